// What a call gave: its content, its structured part beside what is wrong with it, its errors.
import { Badge, SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import type { CallView } from "../api/types";
import { Callout } from "../parts/Callout";
import { bytes } from "../parts/format";
import { JsonTree } from "../parts/JsonTree";
import { TextView } from "../parts/TextView";
import { pretty } from "../parts/text";
import { type Block, Content, type Resource, ResourceView } from "./Content";
import { Message } from "./Message";
import css from "./ResultView.module.css";
import { useResult } from "./useResult";

interface Shape {
  content?: Block[];
  structuredContent?: unknown;
  isError?: boolean;
  contents?: Resource[];
  messages?: { role?: unknown; content?: unknown }[];
  description?: unknown;
}

function Structured({
  value,
  findings,
  hasSchema,
}: {
  value: unknown;
  findings: string[];
  hasSchema: boolean;
}) {
  return (
    <section className="stack tight">
      <div className="row wrap">
        <h3 className="section-title">Structured content</h3>
        {findings.length > 0 ? (
          <Badge color="red">breaks the output schema</Badge>
        ) : hasSchema ? (
          <Badge color="green">fits the output schema</Badge>
        ) : (
          <Badge color="gray">no output schema</Badge>
        )}
      </div>
      <Findings findings={findings} />
      <JsonTree value={value} label="Structured content" most={420} />
    </section>
  );
}

function Findings({ findings }: { findings: string[] }) {
  if (!findings.length) return null;
  return (
    <Callout>
      <ul className={css.findings}>
        {findings.map((finding) => (
          <li key={finding}>{finding}</li>
        ))}
      </ul>
    </Callout>
  );
}

function Shown({ call, value, hasSchema }: { call: CallView; value: Shape; hasSchema: boolean }) {
  const { call_id, server_id, findings } = call;
  const isKnown = value.content || value.contents || value.messages;
  return (
    <div className="stack">
      {value.isError === true && (
        <div className={css.failed} role="alert">
          The tool reports an error (isError)
        </div>
      )}
      {typeof value.description === "string" && <p className="dim">{value.description}</p>}
      {(value.content ?? []).map((block, index) => (
        <Content
          key={index}
          block={block ?? {}}
          callId={call_id}
          pointer={`/content/${index}`}
          serverId={server_id}
        />
      ))}
      {(value.contents ?? []).map((resource, index) => (
        <div key={index} className="stack tight">
          <span className="row wrap mono dim">
            {String(resource.uri ?? "")}{" "}
            {typeof resource.mimeType === "string" && (
              <Badge color="gray">{resource.mimeType}</Badge>
            )}
          </span>
          <ResourceView resource={resource} callId={call_id} pointer={`/contents/${index}`} />
        </div>
      ))}
      {(value.messages ?? []).map((message, index) => (
        <Message
          key={index}
          role={message.role}
          content={message.content}
          callId={call_id}
          pointer={`/messages/${index}/content`}
          serverId={server_id}
        />
      ))}
      {value.structuredContent !== undefined ? (
        <Structured value={value.structuredContent} findings={findings} hasSchema={hasSchema} />
      ) : (
        <Findings findings={findings} />
      )}
      {!isKnown && value.structuredContent === undefined && (
        <JsonTree value={value} label="Result" most={600} />
      )}
    </div>
  );
}

export function ResultView({ call, hasSchema = false }: { call: CallView; hasSchema?: boolean }) {
  const { value, isLoading, problem } = useResult(call);
  const [form, setForm] = useState("shown");
  const raw = useMemo(() => (form === "raw" ? pretty(value) : ""), [form, value]);
  if (isLoading) return <p className="dim">Loading {bytes(call.result_size_bytes)}…</p>;
  if (problem) return <Callout>{problem}</Callout>;
  if (value === undefined) return <p className="dim">There is no result.</p>;
  return (
    <div className="stack">
      <div>
        <SegmentedControl
          aria-label="How to show the result"
          value={form}
          onChange={setForm}
          data={[
            { value: "shown", label: "Content" },
            { value: "tree", label: "JSON" },
            { value: "raw", label: "Raw" },
          ]}
        />
      </div>
      {form === "shown" && (
        <Shown call={call} value={(value ?? {}) as Shape} hasSchema={hasSchema} />
      )}
      {form === "tree" && <JsonTree value={value} label="Result" most={640} />}
      {form === "raw" && <TextView text={raw} label="Result as JSON" most={640} />}
    </div>
  );
}
