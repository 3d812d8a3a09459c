// One content block of any kind, as tools, prompts and messages carry it.
import { Badge, Button } from "@mantine/core";
import { useNavigate } from "react-router";
import { JsonTree } from "../parts/JsonTree";
import { Media } from "../parts/Media";
import { RichText } from "../parts/RichText";
import { pathTo } from "../state/selection";
import css from "./Content.module.css";
import { ToolResult, ToolUse } from "./ToolBlocks";

export interface Block {
  type?: unknown;
  text?: unknown;
  data?: unknown;
  mimeType?: unknown;
  resource?: unknown;
  uri?: unknown;
  name?: unknown;
  title?: unknown;
  description?: unknown;
  annotations?: unknown;
}

export interface Resource {
  uri?: unknown;
  mimeType?: unknown;
  text?: unknown;
  blob?: unknown;
}

interface Props {
  block: Block;
  callId: string | null;
  /** JSON pointer of the block within the result. */
  pointer: string;
  serverId: string;
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

export function ResourceView({
  resource,
  callId,
  pointer,
}: {
  resource: Resource;
  callId: string | null;
  pointer: string;
}) {
  const mime = text(resource.mimeType);
  if (typeof resource.text === "string")
    return <RichText text={resource.text} label="Resource" mime={mime ?? "text/plain"} />;
  if (typeof resource.blob === "string")
    return (
      <Media
        data={resource.blob}
        mime={mime ?? ""}
        place={{ callId, pointer: `${pointer}/blob` }}
      />
    );
  return <JsonTree value={resource} label="Resource" most={300} />;
}

function Link({ block, serverId }: { block: Block; serverId: string }) {
  const navigate = useNavigate();
  const uri = text(block.uri) ?? "";
  return (
    <div className={css.link}>
      <div className="grow">
        <strong>{text(block.title) ?? text(block.name) ?? uri}</strong>
        <div className="mono dim" style={{ overflowWrap: "anywhere" }}>
          {uri}
        </div>
        {text(block.description) && <div>{text(block.description)}</div>}
      </div>
      <Button variant="default" onClick={() => void navigate(pathTo(serverId, "resources", uri))}>
        Open
      </Button>
    </div>
  );
}

function Annotations({ value }: { value: unknown }) {
  if (typeof value !== "object" || value === null) return null;
  return (
    <span className="row wrap">
      {Object.entries(value).map(([name, one]) => (
        <Badge key={name} color="gray">
          {name}: {Array.isArray(one) ? one.join(", ") : String(one)}
        </Badge>
      ))}
    </span>
  );
}

function Body({ block, callId, pointer, serverId }: Props) {
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? (
        <RichText text={block.text} label="Text" />
      ) : (
        <JsonTree value={block} label="Broken content" />
      );
    case "image":
    case "audio":
      return typeof block.data === "string" ? (
        <Media
          data={block.data}
          mime={text(block.mimeType) ?? ""}
          place={{ callId, pointer: `${pointer}/data` }}
        />
      ) : (
        <JsonTree value={block} label="Broken content" most={300} />
      );
    case "resource":
      return (
        <div className="stack tight">
          <span className="mono dim">{text((block.resource as Resource | undefined)?.uri)}</span>
          <ResourceView
            resource={(block.resource ?? {}) as Resource}
            callId={callId}
            pointer={`${pointer}/resource`}
          />
        </div>
      );
    case "resource_link":
      return <Link block={block} serverId={serverId} />;
    case "tool_use":
      return <ToolUse block={block} />;
    case "tool_result":
      return <ToolResult block={block} serverId={serverId} />;
    default:
      return <JsonTree value={block} label="Content" most={300} />;
  }
}

export function Content(props: Props) {
  const { block } = props;
  return (
    <div className={css.content}>
      {(block.type !== "text" || block.annotations !== undefined) && (
        <div className="row wrap">
          <Badge color="gray">{String(block.type ?? "unknown")}</Badge>
          <Annotations value={block.annotations} />
        </div>
      )}
      <Body {...props} />
    </div>
  );
}
