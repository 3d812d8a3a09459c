// The request of a call, folded into one line: a button, and the whole request below it.
import { useState } from "react";
import type { CallView } from "../api/types";
import { Callout } from "../components/Callout";
import { Icon } from "../components/Icon";
import { JsonTree } from "../components/JsonTree";
import { TextView } from "../components/TextView";
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

/** A glimpse of the request; not of a resource's, whose URI is shown above. */
function glimpseOf(call: CallView): string {
  if (call.kind === "resource") return "";
  const near = given(call, call.request);
  const brief = typeof near === "string" ? near : near === null ? "" : JSON.stringify(near);
  return truncate(brief, LONGEST);
}

interface Fold {
  button: React.ReactNode;
  /** The whole request; null while it is folded. */
  body: React.ReactNode;
}

export function useFoldedRequest(call: CallView): Fold {
  const [isOpen, setOpen] = useState(false);
  const { value, problem } = useCallRequest(call, isOpen);
  const label = LABELS[call.kind];
  const shown = given(call, value);
  const button = (
    <div className={css.request}>
      <button
        type="button"
        className={`plain ${css.unfold}`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={isOpen ? "down" : "chevron"} size={12} />
        {label}
      </button>
      <span className="mono dim cut">{glimpseOf(call)}</span>
    </div>
  );
  const body = isOpen && (
    <div className={css.whole}>
      {problem && <Callout>{problem}</Callout>}
      {typeof shown === "string" ? (
        <TextView text={shown} label={label} most={300} />
      ) : (
        shown !== undefined && <JsonTree value={shown} label={label} most={300} />
      )}
    </div>
  );
  return { button, body };
}
