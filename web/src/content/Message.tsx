// A message of a conversation: role and content blocks.
import { Badge } from "@mantine/core";
import type { ContentSource } from "../components/Media";
import { visible } from "../values/hiddenCharacters";
import { Content } from "./Content";
import css from "./Message.module.css";
import { ShowMore } from "./ShowMore";

interface Props extends ContentSource {
  role: unknown;
  content: unknown;
  serverId: string;
}

export function Message({ role, content, pointer, ...source }: Props) {
  const blocks = (Array.isArray(content) ? content : [content]) as unknown[];
  const isList = Array.isArray(content);
  return (
    <div className={css.message} data-role={String(role)}>
      <Badge className={css.role} color={role === "assistant" ? "violet" : "blue"}>
        {visible(String(role ?? "no role"))}
      </Badge>
      <div className="stack tight grow">
        <ShowMore
          items={blocks}
          render={(block, index) => (
            <Content
              key={index}
              block={block}
              pointer={isList ? `${pointer}/${index}` : pointer}
              {...source}
            />
          )}
        />
      </div>
    </div>
  );
}
