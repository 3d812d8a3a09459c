// State of a tool's form: draft, options, validation, and sending the call.
import { useEffect, useState } from "react";
import type { ErrorView, ServerView } from "../../api/types";
import { type Arguments, initialArguments, NO_ARGUMENTS } from "../../forms/ArgumentsEditor";
import { type Example, useExample } from "../../forms/useExample";
import { useFindings } from "../../forms/useFindings";
import type { Finding } from "../../forms/validate";
import { useDraft } from "../../state/browserStorage";
import { startCall } from "../../state/commands";
import { fillDrafts } from "../../state/filledDrafts";
import { errorViewOf } from "../../state/toasts";
import { indentJson } from "../../values/exactJson";
import { truncate } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import { parseJson } from "../../values/json";
import { isObject } from "../../values/jsonObject";
import { NO_OPTIONS, type Options } from "./CallOptions";
import { type Tool, taskObstacle } from "./toolHints";

// Names of saved calls come from files and may be long.
const MAX_NAME = 60;

export interface ToolCallForm {
  draft: Arguments;
  setDraft(draft: Arguments): void;
  options: Options;
  setOptions(options: Options): void;
  findings: Finding[];
  unchecked: Finding[];
  isTried: boolean;
  /** How often the call was refused because of invalid arguments. */
  refused: number;
  problem: string | null;
  error: ErrorView | null;
  /** The backend refused the arguments because of the schema. */
  canForce: boolean;
  start(isForced: boolean): void;
  /** Fills the form with the arguments of a saved call, given as JSON text. */
  fill(name: string, given: string): void;
  /** Fills the form with plausible arguments, or takes them back; null if it takes none. */
  example: Example | null;
}

export function useToolCall(
  server: ServerView,
  tool: Tool,
  itemKey: string,
  show: (callId: string) => void,
): ToolCallForm {
  const draftKey = `tool.${server.server_id}/${itemKey}`;
  const [draft, setDraft] = useDraft<Arguments>(draftKey, NO_ARGUMENTS);
  const [options, setOptions] = useDraft<Options>(`${draftKey}.options`, NO_OPTIONS);
  const [isTried, setTried] = useState(false);
  const [refused, setRefused] = useState(0);
  const [problem, setProblem] = useState<string | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  // Set if Run was pressed before the defaults were filled in.
  const [early, setEarly] = useState<{ isForced: boolean } | null>(null);
  const { parsed, findings, unchecked, asTyped } = useFindings(tool.inputSchema, draft);

  const send = async (args: string, isForced: boolean): Promise<void> => {
    const meta = options.meta.trim() || "{}";
    const parsedMeta = parseJson(meta);
    if (!parsedMeta.ok) return setProblem(`_meta is not JSON: ${parsedMeta.problem}`);
    if (!isObject(parsedMeta.value)) return setProblem("_meta is not a JSON object");
    const wanted = options.as_task || tool.execution?.taskSupport === "required";
    const asTask = wanted && taskObstacle(server) === null;
    try {
      const call = await startCall(
        "CallTool",
        {
          server_id: server.server_id,
          name: tool.name ?? "",
          listed_as: itemKey,
          headers: Object.fromEntries(options.headers.filter(([name]) => name.trim())),
          timeout_s: options.timeout_s === "" ? null : options.timeout_s,
          as_task: asTask,
          send_anyway: isForced,
        },
        { arguments: args, meta },
      );
      show(call.call_id);
    } catch (thrown) {
      setError(errorViewOf(thrown));
    }
  };
  const startFilled = async (isForced: boolean): Promise<void> => {
    setEarly({ isForced });
    try {
      setDraft({ ...draft, text: await initialArguments(tool.inputSchema ?? {}) });
    } catch (thrown) {
      setEarly(null);
      setError(errorViewOf(thrown));
    }
  };
  const start = (isForced: boolean): void => {
    setError(null);
    if (draft.text === null) return void startFilled(isForced);
    setTried(true);
    setProblem(parsed.ok ? null : `The arguments are not JSON: ${parsed.problem}`);
    if (parsed.ok && (isForced || findings.length === 0)) void send(asTyped, isForced);
    else setRefused(refused + 1);
  };
  useEffect(() => {
    if (early === null || draft.text === null) return;
    setEarly(null);
    start(early.isForced);
  });
  const example = useExample(tool.inputSchema ?? {}, draft, setDraft);
  const canForce = error?.code === "INVALID_REQUEST" && "findings" in error.details;
  return {
    draft,
    setDraft,
    options,
    setOptions,
    findings,
    unchecked,
    isTried,
    refused,
    problem,
    error,
    canForce,
    start,
    fill: (name, given) =>
      fillDrafts(`The form was filled with “${visible(truncate(name, MAX_NAME))}”`, [
        [draftKey, { mode: draft.mode, text: indentJson(given) } satisfies Arguments],
      ]),
    example,
  };
}
