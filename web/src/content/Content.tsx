// One MCP content block of any type.
import { Badge, Button } from "@mantine/core";
import { useNavigate } from "react-router";
import { ErrorBoundary } from "../components/ErrorBoundary";
import { JsonTree } from "../components/JsonTree";
import { type ContentSource, Media } from "../components/Media";
import { type Form, RichText } from "../components/RichText";
import { UntrustedText } from "../components/UntrustedText";
import { pathTo } from "../state/navigation";
import { visible } from "../values/hiddenCharacters";
import { isObject, type JsonObject } from "../values/jsonObject";
import css from "./Content.module.css";
import { InvalidValue, typeMismatch } from "./InvalidValue";
import { ToolResult, ToolUse } from "./ToolBlocks";

interface Props extends ContentSource {
  block: unknown;
  serverId: string;
  /** The view of a text, where the parent has the switch between them. */
  textForm?: Form;
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** Any value as one line of text. */
export const asOneLine = (value: unknown): string =>
  visible(isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value));

export function ResourceView({
  resource,
  pointer,
  textForm,
  ...source
}: ContentSource & { resource: unknown; textForm?: Form }) {
  if (!isObject(resource))
    return (
      <InvalidValue
        text={typeMismatch("The resource", resource, "an object")}
        value={resource}
        label="Broken resource"
      />
    );
  const { mimeType, uri, blob } = resource;
  if (typeof resource.text === "string")
    return (
      <RichText
        text={resource.text}
        label="Resource"
        mime={text(mimeType)}
        uri={text(uri)}
        form={textForm}
      />
    );
  if (typeof blob === "string")
    return (
      <Media
        data={blob}
        mime={text(mimeType) ?? ""}
        source={{ ...source, pointer: `${pointer}/blob` }}
      />
    );
  return (
    <InvalidValue
      text="This resource has neither a text nor a blob that is a string."
      value={resource}
      label="Broken resource"
    />
  );
}

function ResourceLink({ block, serverId }: { block: JsonObject; serverId: string }) {
  const navigate = useNavigate();
  const uri = text(block.uri);
  const description = text(block.description);
  if (uri === undefined)
    return (
      <InvalidValue
        text={typeMismatch("The uri", block.uri, "a string")}
        value={block}
        label="Broken content"
      />
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

/** Annotations of a resource or content block: audience, priority. */
export function Annotations({ value }: { value: unknown }) {
  if (value === undefined) return null;
  if (!isObject(value)) return <Badge color="red">annotations: {asOneLine(value)}</Badge>;
  return (
    <span className="row wrap">
      {Object.entries(value).map(([name, one]) => (
        <Badge key={name} color="gray">
          {visible(name)}: {Array.isArray(one) ? one.map(asOneLine).join(", ") : asOneLine(one)}
        </Badge>
      ))}
    </span>
  );
}

function Body({
  block,
  pointer,
  serverId,
  textForm,
  ...source
}: ContentSource & { block: JsonObject; serverId: string; textForm?: Form }) {
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? (
        <RichText text={block.text} label="Text" form={textForm} />
      ) : (
        <InvalidValue
          text={typeMismatch("The text", block.text, "a string")}
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
          source={{ ...source, pointer: `${pointer}/data` }}
        />
      ) : (
        <InvalidValue
          text={typeMismatch("The data", block.data, "a string in base64")}
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
          <ResourceView resource={block.resource} pointer={`${pointer}/resource`} {...source} />
        </div>
      );
    case "resource_link":
      return <ResourceLink block={block} serverId={serverId} />;
    case "tool_use":
      return <ToolUse block={block} />;
    case "tool_result":
      return <ToolResult block={block} pointer={pointer} serverId={serverId} {...source} />;
    default:
      return <JsonTree value={block} label="Content" most={300} />;
  }
}

export function Content({ block, ...rest }: Props) {
  if (!isObject(block))
    return (
      <InvalidValue
        text={typeMismatch("This content item", block, "an object")}
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
              {block.type === undefined ? "no type" : asOneLine(block.type)}
            </Badge>
            <Annotations value={block.annotations} />
          </div>
        )}
        <Body block={block} {...rest} />
      </div>
    </ErrorBoundary>
  );
}
