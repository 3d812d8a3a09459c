// The result of a call: content, structured content with schema findings, errors.
import { Anchor, Badge, SegmentedControl } from "@mantine/core";
import { type ReactNode, useMemo, useState } from "react";
import type { CallView } from "../api/types";
import { Callout } from "../components/Callout";
import { Icon } from "../components/Icon";
import { JsonTree } from "../components/JsonTree";
import { lazyModule, useModule } from "../components/lazyModule";
import { ModuleLoading } from "../components/ModuleLoading";
import { type Form, RichText, LABELS as TEXT_LABELS, useTextForm } from "../components/RichText";
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
import { formatBytes, formatDuration } from "../values/format";
import { pretty } from "../values/json";
import { fieldsOf, isObject, type JsonObject } from "../values/jsonObject";
import { schemaConformance } from "./callStatus";
import { RawReply } from "./RawReply";
import css from "./ResultView.module.css";
import { contentKind, hasContent, textForms, textOfStructured } from "./resultContent";
import { useCallResult } from "./useCallResult";

interface StructuredProps {
  value: unknown;
  call: CallView;
  hasSchema: boolean;
  /** Whether other content is shown above it. */
  isBelow: boolean;
  /** The text of the result, if it says the same. */
  sameText: string | null;
}

function StructuredContent({ value, call, hasSchema, isBelow, sameText }: StructuredProps) {
  const fit = schemaConformance(call, hasSchema);
  const [isTextShown, setTextShown] = useState(false);
  return (
    <section className="stack tight">
      {isBelow && <h3 className="section-title">Structured content</h3>}
      <SchemaFindings findings={call.findings} />
      <JsonTree value={value} label="Structured content" most={420} />
      <div className="row wrap">
        <Badge color={fit.tone}>{fit.word}</Badge>
        {sameText !== null && (
          <>
            <span className="dim">The text is the same as the structured content.</span>
            <Anchor component="button" type="button" onClick={() => setTextShown(!isTextShown)}>
              {isTextShown ? "Hide the text" : "Show the text"}
            </Anchor>
          </>
        )}
      </div>
      {sameText !== null && isTextShown && <RichText text={sameText} label="Text" />}
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

interface ReadProps {
  resource: unknown;
  callId: string;
  pointer: string;
  /** Whether it is the one that was asked for: its URI and type are shown above the result. */
  isPlain: boolean;
  textForm: Form | undefined;
}

function ReadResource({ resource, callId, pointer, isPlain, textForm }: ReadProps) {
  const about = fieldsOf(resource);
  return (
    <div className="stack tight">
      {!isPlain && (
        <span className="row wrap mono dim">
          {about.uri !== undefined && asOneLine(about.uri)}{" "}
          {about.mimeType !== undefined && <Badge color="gray">{asOneLine(about.mimeType)}</Badge>}
        </span>
      )}
      <ResourceView resource={resource} callId={callId} pointer={pointer} textForm={textForm} />
    </div>
  );
}

interface ContentProps {
  call: CallView;
  value: JsonObject;
  hasSchema: boolean;
  /** The view of the only text, which the switch above has. */
  textForm: Form | undefined;
}

function ResultContent({ call, value, hasSchema, textForm }: ContentProps) {
  const { call_id: callId, server_id: serverId, findings } = call;
  const sameText = useMemo(() => textOfStructured(value), [value]);
  return (
    <div className="stack">
      {isToolError(call, value) && (
        <div className={`row ${css.failed}`} role="alert">
          <Icon name="alert" />
          The tool reports an error (isError)
        </div>
      )}
      {call.kind === "raw" && call.tool_error !== null && (
        // The tree below has one line for it, however long it is.
        <div className={css.said}>
          <UntrustedText>{call.tool_error}</UntrustedText>
        </div>
      )}
      {typeof value.description === "string" && (
        <p className="dim">
          <UntrustedText>{value.description}</UntrustedText>
        </p>
      )}
      {sameText === null && (
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
              textForm={textForm}
            />
          )}
        />
      )}
      <ListMember
        of={value}
        name="contents"
        render={(resource, index) => (
          <ReadResource
            key={index}
            resource={resource}
            callId={callId}
            pointer={`/contents/${index}`}
            isPlain={call.kind === "resource" && fieldsOf(resource).uri === call.name}
            textForm={textForm}
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
        <StructuredContent
          value={value.structuredContent}
          call={call}
          hasSchema={hasSchema}
          isBelow={sameText === null && Array.isArray(value.content) && value.content.length > 0}
          sameText={sameText}
        />
      ) : (
        <SchemaFindings findings={findings} />
      )}
      {!hasContent(value) && <JsonTree value={value} label="Result" most={600} />}
    </div>
  );
}

let last = { text: "", indented: "" };

/** Cache: indenting megabytes on each visit would be slow. */
function indentedOnce(text: string): string {
  if (last.text !== text) last = { text, indented: indentJson(text) };
  return last.indented;
}

const CONTENT = { value: "shown", label: "Content" };
const TREE = { value: "tree", label: "Tree" };
const TEXTS = [
  { value: "json", label: "JSON" },
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

const noResult = ({ kind, elapsed_s }: CallView): string => {
  if (kind !== "raw") return "There is no result.";
  return elapsed_s === null
    ? "No reply came."
    : `No reply came within ${formatDuration(elapsed_s)}.`;
};

interface Props {
  call: CallView;
  hasSchema?: boolean;
  /** The folded request: its button stands beside the views. */
  request?: { button: ReactNode; body: ReactNode };
  /** The app of the tool, if it has one: a view of its own, and the first that is shown. */
  app?: ReactNode;
  /** Shown in place of the content of a call that the server answered with an error. */
  failure?: ReactNode;
}

const APP = { value: "app", label: "App" };
const FAILURE = { value: "shown", label: "Error" };
// A result without content is its tree, and needs no second one.
const BARE = { value: "shown", label: TREE.label };

// What a view of the only text is called among those of the result.
const SHOWN = "shown:";
const labelOfText = (form: Form): string => (form === "json" ? "Content" : TEXT_LABELS[form]);

/** Whether the tool says itself that it failed. */
const isToolError = (call: CallView, value: unknown): boolean =>
  fieldsOf(value).isError === true || call.tool_error !== null;

/** The views of a result: those of its text, if that is all it has, and those of its JSON. */
function useForms(call: CallView, value: unknown, hasApp: boolean, isFailed: boolean) {
  const ofContent = useMemo(() => contentKind(value), [value]);
  const kind = hasApp ? APP.value : ofContent;
  const kept = usePreference(`result.form.${kind}`, hasApp ? APP.value : "shown");
  // What went wrong is read first, whatever was looked at of another error.
  const ofError = useState("shown");
  const [wanted, setWanted] = isFailed || isToolError(call, value) ? ofError : kept;
  const others = useOtherCalls(call);
  const texts = useMemo(() => textForms(value), [value]);
  const [textForm, setTextForm] = useTextForm(texts);
  const isSwitchless = texts.length > 1;
  const isBare = !isFailed && isObject(value) && !hasContent(value);
  const rest = [
    ...(isBare ? [] : [TREE]),
    ...TEXTS,
    ...(others.length > 0 && !isFailed ? [COMPARE] : []),
    ...(hasApp ? [APP] : []),
  ];
  const first = isFailed ? FAILURE : isBare ? BARE : CONTENT;
  const shown = isSwitchless
    ? texts.map((one) => ({ value: SHOWN + one, label: labelOfText(one) }))
    : [first];
  const form = rest.some((one) => one.value === wanted) ? wanted : "shown";
  const choose = (next: string): void => {
    const isText = next.startsWith(SHOWN);
    setWanted(isText ? "shown" : next);
    if (isText) setTextForm(next.slice(SHOWN.length) as Form);
  };
  const chosen = form === "shown" && isSwitchless ? SHOWN + textForm : form;
  const shownForm = isSwitchless ? textForm : undefined;
  return { forms: [...shown, ...rest], form, chosen, choose, textForm: shownForm, others };
}

export function ResultView({ call, hasSchema = false, request, app, failure }: Props) {
  const { value, text, isLoading, problem } = useCallResult(call);
  const isFailed = failure !== undefined;
  const { forms, form, chosen, choose, textForm, others } = useForms(
    call,
    value,
    app !== undefined,
    isFailed,
  );
  const indented = useMemo(
    () => (form === "json" ? (text === null ? pretty(value) : indentedOnce(text)) : ""),
    [form, text, value],
  );
  const without = (note: ReactNode): ReactNode => (
    <>
      {request?.button}
      {request?.body}
      {note}
    </>
  );
  if (isLoading)
    return without(<p className="dim">Loading {formatBytes(call.result_size_bytes)}…</p>);
  if (problem) return without(<Callout>{problem}</Callout>);
  if (value === undefined) return without(<p className="dim">{noResult(call)}</p>);
  return (
    <div className="stack">
      <div className={css.views}>
        <SegmentedControl
          aria-label="How to show the result"
          value={chosen}
          onChange={choose}
          data={forms}
        />
        {request?.button}
      </div>
      {request?.body}
      {form === "shown" && failure}
      {form === "shown" &&
        !isFailed &&
        (isObject(value) ? (
          <ResultContent call={call} value={value} hasSchema={hasSchema} textForm={textForm} />
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
      {form === "json" && (
        <TextView text={indented} label="Result as JSON" most={640} language="json" />
      )}
      {form === "raw" && <RawReply call={call} />}
      {form === "app" && app}
      {form === "compare" && <Comparison call={call} others={others} />}
    </div>
  );
}
