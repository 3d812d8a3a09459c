// A message of a conversation: who says it, and its content of every kind.
import { Badge } from "@mantine/core";
import { visible } from "../values/hiddenCharacters";
import { Content } from "./Content";
import css from "./Message.module.css";
import { Some } from "./Some";

interface Props {
  role: unknown;
  content: unknown;
  callId: string | null;
  questionId?: string;
  pointer: string;
  serverId: string;
}

export function Message({ role, content, pointer, ...place }: Props) {
  const blocks = (Array.isArray(content) ? content : [content]) as unknown[];
  const isList = Array.isArray(content);
  return (
    <div className={css.message} data-role={String(role)}>
      <Badge className={css.role} color={role === "assistant" ? "violet" : "blue"}>
        {visible(String(role ?? "no role"))}
      </Badge>
      <div className="stack tight grow">
        <Some
          items={blocks}
          draw={(block, index) => (
            <Content
              key={index}
              block={block}
              pointer={isList ? `${pointer}/${index}` : pointer}
              {...place}
            />
          )}
        />
      </div>
    </div>
  );
}
