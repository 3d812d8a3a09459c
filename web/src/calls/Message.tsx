// A message of a conversation: who says it, and its content of every kind.
import { Badge } from "@mantine/core";
import { type Block, Content } from "./Content";
import css from "./Message.module.css";

interface Props {
  role: unknown;
  content: unknown;
  callId: string | null;
  pointer: string;
  serverId: string;
}

export function Message({ role, content, callId, pointer, serverId }: Props) {
  const blocks = (Array.isArray(content) ? content : [content]) as Block[];
  const isList = Array.isArray(content);
  return (
    <div className={css.message} data-role={String(role)}>
      <Badge color={role === "assistant" ? "violet" : "blue"}>{String(role ?? "no role")}</Badge>
      <div className="stack tight grow">
        {blocks.map((block, index) => (
          <Content
            key={index}
            block={block ?? {}}
            callId={callId}
            pointer={isList ? `${pointer}/${index}` : pointer}
            serverId={serverId}
          />
        ))}
      </div>
    </div>
  );
}
