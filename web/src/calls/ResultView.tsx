// The result of a call: content, structured content with schema findings, errors.
import { Badge, SegmentedControl } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import type { CallView } from "../api/types";
import { Callout } from "../components/Callout";
import { JsonTree } from "../components/JsonTree";
import { lazyModule, useModule } from "../components/lazyModule";
import { ModuleLoading } from "../components/ModuleLoading";
import { TextView } from "../components/TextView";
import { TruncatedList } from "../components/TruncatedList";
import { UntrustedText } from "../components/UntrustedText";
import { asOneLine, Content, ResourceView } from "../content/Content";
import { InvalidValue, typeMismatch } from "../content/InvalidValue";
import { Message } from "../content/Message";
import { ShowMore } from "../content/ShowMore";
import { usePreference } from "../state/browserStorage";
import { useInspector } from "../state/store";
import { indentJson } from "../values/exactJson";
import { formatBytes } from "../values/format";
import { pretty } from "../values/json";
import { fieldsOf, isObject, type JsonObject } from "../values/jsonObject";
import { schemaConformance } from "./callStatus";
import { RawReply } from "./RawReply";
import css from "./ResultView.module.css";
import { useCallResult } from "./useCallResult";

function StructuredContent({
  value,
  call,
  hasSchema,
}: {
  value: unknown;
  call: CallView;
  hasSchema: boolean;
}) {
  const fit = schemaConformance(call, hasSchema);
  return (
    <section className="stack tight">
      <div className="row wrap">
        <h3 className="section-title">Structured content</h3>
        <Badge color={fit.tone}>{fit.word}</Badge>
      </div>
      <SchemaFindings findings={call.findings} />
      <JsonTree value={value} label="Structured content" most={420} />
    </section>
  );
}

function SchemaFindings({ findings }: { findings: string[] }) {
  if (!findings.length) return null;
  return (
    <Callout>
      <TruncatedList label="What is wrong with it" className={css.findings} lines={findings} />
    </Callout>
  );
}

/** A list member of the result, item by item; other types are shown as invalid. */
function ListMember({
  of,
  name,
  render,
}: {
  of: JsonObject;
  name: string;
  render(item: unknown, index: number): ReactNode;
}) {
  const value = of[name];
  if (value === undefined) return null;
  if (!Array.isArray(value))
    return (
      <InvalidValue
        text={typeMismatch(name, value, "a list")}
        value={value}
        label={`Broken ${name}`}
      />
    );
  return <ShowMore items={value} render={render} />;
}

function ReadResource({
  resource,
  callId,
  pointer,
}: {
  resource: unknown;
  callId: string;
  pointer: string;
}) {
  const about = fieldsOf(resource);
  return (
    <div className="stack tight">
      <span className="row wrap mono dim">
        {about.uri !== undefined && asOneLine(about.uri)}{" "}
        {about.mimeType !== undefined && <Badge color="gray">{asOneLine(about.mimeType)}</Badge>}
      </span>
      <ResourceView resource={resource} callId={callId} pointer={pointer} />
    </div>
  );
}

function ResultContent({
  call,
  value,
  hasSchema,
}: {
  call: CallView;
  value: JsonObject;
  hasSchema: boolean;
}) {
  const { call_id: callId, server_id: serverId, findings } = call;
  const isKnown = ["content", "contents", "messages", "structuredContent"].some(
    (name) => value[name] !== undefined,
  );
  return (
    <div className="stack">
      {value.isError === true && (
        <div className={css.failed} role="alert">
          The tool reports an error (isError)
        </div>
      )}
      {typeof value.description === "string" && (
        <p className="dim">
          <UntrustedText>{value.description}</UntrustedText>
        </p>
      )}
      <ListMember
        of={value}
        name="content"
        render={(block, index) => (
          <Content
            key={index}
            block={block}
            callId={callId}
            pointer={`/content/${index}`}
            serverId={serverId}
          />
        )}
      />
      <ListMember
        of={value}
        name="contents"
        render={(resource, index) => (
          <ReadResource
            key={index}
            resource={resource}
            callId={callId}
            pointer={`/contents/${index}`}
          />
        )}
      />
      <ListMember
        of={value}
        name="messages"
        render={(message, index) =>
          isObject(message) ? (
            <Message
              key={index}
              role={message.role}
              content={message.content}
              callId={callId}
              pointer={`/messages/${index}/content`}
              serverId={serverId}
            />
          ) : (
            <InvalidValue
              key={index}
              text={typeMismatch("This message", message, "an object")}
              value={message}
              label="Broken message"
            />
          )
        }
      />
      {value.structuredContent !== undefined ? (
        <StructuredContent value={value.structuredContent} call={call} hasSchema={hasSchema} />
      ) : (
        <SchemaFindings findings={findings} />
      )}
      {!isKnown && <JsonTree value={value} label="Result" most={600} />}
    </div>
  );
}

let last = { text: "", indented: "" };

/** Cache: indenting megabytes on each visit would be slow. */
function indentedOnce(text: string): string {
  if (last.text !== text) last = { text, indented: indentJson(text) };
  return last.indented;
}

const FORMS = [
  { value: "shown", label: "Content" },
  { value: "tree", label: "JSON" },
  { value: "pretty", label: "Pretty" },
  { value: "raw", label: "Raw" },
];
const COMPARE = { value: "compare", label: "Compare" };
const compareModule = lazyModule(() => import("./CompareResults"));

/** Other calls of the same tool, prompt or resource that have a result, newest first. */
function useOtherCalls(call: CallView): CallView[] {
  const calls = useInspector((state) => state.calls);
  return useMemo(
    () =>
      [...calls.values()]
        .filter(
          (one) =>
            one.call_id !== call.call_id &&
            one.server_id === call.server_id &&
            one.kind === call.kind &&
            one.kind !== "raw" &&
            one.name === call.name &&
            one.status === "completed",
        )
        .sort((a, b) => b.started - a.started),
    [calls, call.call_id, call.server_id, call.kind, call.name],
  );
}

function Comparison({ call, others }: { call: CallView; others: CallView[] }) {
  const module = useModule(compareModule);
  if (!module) return <ModuleLoading loader={compareModule} what="the comparison" />;
  return <module.CompareResults call={call} others={others} />;
}

// Types are a server's own words; this is the key of a preference.
const LONGEST_KIND = 80;
const MEMBERS = ["content", "contents", "messages"];

/** What a result is made of: the view that was chosen for one is used for others of its kind. */
export function contentKind(value: unknown): string {
  const result = fieldsOf(value);
  const items = MEMBERS.flatMap((name) => {
    const list = result[name];
    return Array.isArray(list) ? (list as unknown[]) : [];
  });
  const kinds = items.map((item) => {
    const { type, content, mimeType, blob } = fieldsOf(item);
    const inner = type ?? fieldsOf(content).type;
    if (typeof inner === "string") return inner;
    if (typeof mimeType === "string") return mimeType.split(";")[0] ?? "";
    return blob === undefined ? "text" : "bytes";
  });
  if (result.structuredContent !== undefined) kinds.push("structured");
  return [...new Set(kinds)].sort().join("+").slice(0, LONGEST_KIND) || "other";
}

export function ResultView({ call, hasSchema = false }: { call: CallView; hasSchema?: boolean }) {
  const { value, text, isLoading, problem } = useCallResult(call);
  const kind = useMemo(() => contentKind(value), [value]);
  const [wanted, setForm] = usePreference(`result.form.${kind}`, "shown");
  const others = useOtherCalls(call);
  const forms = others.length ? [...FORMS, COMPARE] : FORMS;
  const form = forms.some(({ value: one }) => one === wanted) ? wanted : "shown";
  const indented = useMemo(
    () => (form === "pretty" ? (text === null ? pretty(value) : indentedOnce(text)) : ""),
    [form, text, value],
  );
  if (isLoading) return <p className="dim">Loading {formatBytes(call.result_size_bytes)}…</p>;
  if (problem) return <Callout>{problem}</Callout>;
  if (value === undefined)
    return <p className="dim">{call.kind === "raw" ? "No reply came." : "There is no result."}</p>;
  return (
    <div className="stack">
      <div>
        <SegmentedControl
          aria-label="How to show the result"
          value={form}
          onChange={setForm}
          data={forms}
        />
      </div>
      {form === "shown" &&
        (isObject(value) ? (
          <ResultContent call={call} value={value} hasSchema={hasSchema} />
        ) : (
          <>
            <InvalidValue
              text={typeMismatch("The result", value, "an object")}
              value={value}
              label="Result"
            />
            <SchemaFindings findings={call.findings} />
          </>
        ))}
      {form === "tree" && <JsonTree value={value} label="Result" most={640} />}
      {form === "pretty" && (
        <TextView text={indented} label="Result as JSON" most={640} language="json" />
      )}
      {form === "raw" && <RawReply call={call} />}
      {form === "compare" && <Comparison call={call} others={others} />}
    </div>
  );
}
