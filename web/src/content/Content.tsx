// One content block of any kind, as tools, prompts and messages carry it.
import { Badge, Button } from "@mantine/core";
import { useNavigate } from "react-router";
import { ErrorBoundary } from "../components/ErrorBoundary";
import { JsonTree } from "../components/JsonTree";
import { Media } from "../components/Media";
import { RichText } from "../components/RichText";
import { UntrustedText } from "../components/UntrustedText";
import { pathTo } from "../state/navigation";
import { visible } from "../values/hiddenCharacters";
import { isObject, type JsonObject } from "../values/jsonObject";
import css from "./Content.module.css";
import { Remark, wrong } from "./Remark";
import { ToolResult, ToolUse } from "./ToolBlocks";

interface Place {
  callId: string | null;
  questionId?: string;
  /** JSON pointer of the block within the result, or within the question's params. */
  pointer: string;
}

interface Props extends Place {
  block: unknown;
  serverId: string;
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** Any value in a few words. */
export const brief = (value: unknown): string =>
  visible(isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value));

export function ResourceView({ resource, pointer, ...place }: Place & { resource: unknown }) {
  if (!isObject(resource))
    return (
      <Remark
        text={wrong("The resource", resource, "an object")}
        value={resource}
        label="Broken resource"
      />
    );
  const { mimeType, uri, blob } = resource;
  if (typeof resource.text === "string")
    return <RichText text={resource.text} label="Resource" mime={text(mimeType)} uri={text(uri)} />;
  if (typeof blob === "string")
    return (
      <Media
        data={blob}
        mime={text(mimeType) ?? ""}
        place={{ ...place, pointer: `${pointer}/blob` }}
      />
    );
  return (
    <Remark
      text="This resource has neither a text nor a blob that is a string."
      value={resource}
      label="Broken resource"
    />
  );
}

function Link({ block, serverId }: { block: JsonObject; serverId: string }) {
  const navigate = useNavigate();
  const uri = text(block.uri);
  const description = text(block.description);
  if (uri === undefined)
    return (
      <Remark text={wrong("The uri", block.uri, "a string")} value={block} label="Broken content" />
    );
  return (
    <div className={css.link}>
      <div className="grow">
        <strong>
          <UntrustedText>{text(block.title) ?? text(block.name) ?? uri}</UntrustedText>
        </strong>
        <div className="mono dim" style={{ overflowWrap: "anywhere" }}>
          <UntrustedText>{uri}</UntrustedText>
        </div>
        {description && (
          <div>
            <UntrustedText>{description}</UntrustedText>
          </div>
        )}
      </div>
      <Button variant="default" onClick={() => void navigate(pathTo(serverId, "resources", uri))}>
        Open
      </Button>
    </div>
  );
}

/** What a server says of a resource or a content: for whom, how important. */
export function Annotations({ value }: { value: unknown }) {
  if (value === undefined) return null;
  if (!isObject(value)) return <Badge color="red">annotations: {brief(value)}</Badge>;
  return (
    <span className="row wrap">
      {Object.entries(value).map(([name, one]) => (
        <Badge key={name} color="gray">
          {visible(name)}: {Array.isArray(one) ? one.map(brief).join(", ") : brief(one)}
        </Badge>
      ))}
    </span>
  );
}

function Body({
  block,
  pointer,
  serverId,
  ...place
}: Place & { block: JsonObject; serverId: string }) {
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? (
        <RichText text={block.text} label="Text" />
      ) : (
        <Remark
          text={wrong("The text", block.text, "a string")}
          value={block}
          label="Broken content"
        />
      );
    case "image":
    case "audio":
      return typeof block.data === "string" ? (
        <Media
          data={block.data}
          mime={text(block.mimeType) ?? ""}
          place={{ ...place, pointer: `${pointer}/data` }}
        />
      ) : (
        <Remark
          text={wrong("The data", block.data, "a string in base64")}
          value={block}
          label="Broken content"
        />
      );
    case "resource":
      return (
        <div className="stack tight">
          {isObject(block.resource) && (
            <span className="mono dim">
              <UntrustedText>{text(block.resource.uri) ?? "no uri"}</UntrustedText>
            </span>
          )}
          <ResourceView resource={block.resource} pointer={`${pointer}/resource`} {...place} />
        </div>
      );
    case "resource_link":
      return <Link block={block} serverId={serverId} />;
    case "tool_use":
      return <ToolUse block={block} />;
    case "tool_result":
      return <ToolResult block={block} pointer={pointer} serverId={serverId} {...place} />;
    default:
      return <JsonTree value={block} label="Content" most={300} />;
  }
}

export function Content({ block, ...rest }: Props) {
  if (!isObject(block))
    return (
      <Remark
        text={wrong("This content item", block, "an object")}
        value={block}
        label="Broken content"
      />
    );
  return (
    <ErrorBoundary what="this content" raw={block}>
      <div className={css.content}>
        {(block.type !== "text" || block.annotations !== undefined) && (
          <div className="row wrap">
            <Badge color={typeof block.type === "string" ? "gray" : "red"}>
              {block.type === undefined ? "no type" : brief(block.type)}
            </Badge>
            <Annotations value={block.annotations} />
          </div>
        )}
        <Body block={block} {...rest} />
      </div>
    </ErrorBoundary>
  );
}
