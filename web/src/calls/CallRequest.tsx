// The request of a call: one line, expandable.
import { useState } from "react";
import type { CallView } from "../api/types";
import { Callout } from "../components/Callout";
import { JsonTree } from "../components/JsonTree";
import { TextView } from "../components/TextView";
import { UntrustedText } from "../components/UntrustedText";
import { truncate } from "../values/format";
import { isObject } from "../values/jsonObject";
import css from "./CallPanel.module.css";
import { useCallRequest } from "./useCallRequest";

const LONGEST = 200;
const LABELS: Record<CallView["kind"], string> = {
  tool: "Arguments",
  prompt: "Arguments",
  resource: "Parameters",
  request: "Parameters",
  raw: "Message",
};

/** The user's part of the request: without the name, which is shown beside it. */
function given(call: CallView, request: unknown): unknown {
  if (!isObject(request) || (call.kind !== "tool" && call.kind !== "prompt")) return request;
  const { name: _, arguments: typed, ...rest } = request;
  return Object.keys(rest).length ? { arguments: typed ?? {}, ...rest } : (typed ?? {});
}

export function CallRequest({ call }: { call: CallView }) {
  const [isOpen, setOpen] = useState(false);
  const { value, problem } = useCallRequest(call, isOpen);
  const label = LABELS[call.kind];
  const shown = given(call, value);
  const near = given(call, call.request);
  const brief = typeof near === "string" ? near : near === null ? "" : JSON.stringify(near);
  return (
    <details className={css.asked} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}{" "}
        <strong className="mono">
          <UntrustedText>{call.name || call.method}</UntrustedText>
        </strong>{" "}
        <span className="mono dim">{truncate(brief, LONGEST)}</span>
      </summary>
      {problem && <Callout>{problem}</Callout>}
      {typeof shown === "string" ? (
        <TextView text={shown} label={label} most={300} />
      ) : (
        shown !== undefined && <JsonTree value={shown} label={label} most={300} />
      )}
    </details>
  );
}
