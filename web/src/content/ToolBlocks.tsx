// tool_use and tool_result blocks of sampling messages.
import { Badge } from "@mantine/core";
import { JsonTree } from "../components/JsonTree";
import type { ContentSource } from "../components/Media";
import { visible } from "../values/hiddenCharacters";
import type { JsonObject } from "../values/jsonObject";
import { Content } from "./Content";
import { ShowMore } from "./ShowMore";
import css from "./ToolBlocks.module.css";

const word = (value: unknown): string =>
  visible(typeof value === "string" ? value : (JSON.stringify(value) ?? "none"));

export function ToolUse({ block }: { block: object }) {
  const { id, name, input } = block as JsonObject;
  return (
    <div className={css.tool}>
      <div className="row wrap">
        <span>Calls</span>
        <strong className="mono">{word(name)}</strong>
        <span className="mono dim">{word(id)}</span>
      </div>
      <JsonTree value={input} label={`Arguments of ${word(name)}`} most={200} withSearch={false} />
    </div>
  );
}

interface ResultProps extends ContentSource {
  block: object;
  serverId: string;
}

export function ToolResult({ block, pointer, ...source }: ResultProps) {
  const { toolUseId, content, isError, structuredContent } = block as JsonObject;
  const parts = Array.isArray(content) ? content : [content];
  return (
    <div className={css.tool} data-bad={isError === true}>
      <div className="row wrap">
        <span>Result of</span>
        <span className="mono dim">{word(toolUseId)}</span>
        {isError === true && <Badge color="red">Tool error</Badge>}
      </div>
      <ShowMore
        items={parts}
        render={(part, index) => (
          <Content key={index} block={part} pointer={`${pointer}/content/${index}`} {...source} />
        )}
      />
      {structuredContent !== undefined && (
        <JsonTree
          value={structuredContent}
          label="Structured content"
          most={200}
          withSearch={false}
        />
      )}
    </div>
  );
}
