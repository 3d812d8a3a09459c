// The tool calls of a sampling response.
import { Select, Textarea } from "@mantine/core";
import { useEffect, useRef } from "react";
import { AddRowButton, RemoveRowButton } from "../components/RowButtons";
import { parseJson } from "../values/json";
import type { SamplingTool } from "./questionParams";
import { inputFor, type ToolCall } from "./samplingAnswer";

interface Props {
  tools: SamplingTool[];
  calls: ToolCall[];
  /** Whether somebody asked for it: the first call has the focus then. */
  isWanted?: boolean;
  onChange(calls: ToolCall[]): void;
}

export function ToolCalls({ tools, calls, isWanted = false, onChange }: Props) {
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isWanted) first.current?.focus();
  }, [isWanted]);
  const put = (at: number, part: Partial<ToolCall>): void =>
    onChange(calls.map((call, index) => (index === at ? { ...call, ...part } : call)));
  const names = tools.map((tool) => tool.name);
  const begun = (name: string): ToolCall => ({
    name,
    input: inputFor(tools.find((tool) => tool.name === name)?.inputSchema),
  });
  // An unedited input changes with the tool.
  const choose = (at: number, call: ToolCall, name: string): void =>
    put(at, call.input === begun(call.name).input ? begun(name) : { name });
  return (
    <div className="card stack tight">
      <span className="section-title">Tool calls</span>
      {calls.map((call, index) => {
        const parsed = parseJson(call.input.trim() || "{}");
        return (
          <div key={index} className="row wrap" style={{ alignItems: "flex-start" }}>
            <Select
              ref={index === 0 ? first : undefined}
              aria-label={`Tool of call ${index + 1}`}
              data={[...new Set([...names, call.name])].filter(Boolean)}
              value={call.name}
              onChange={(name) => choose(index, call, name ?? "")}
              style={{ flex: "1 1 140px" }}
            />
            <Textarea
              aria-label={`Input of call ${index + 1}`}
              style={{ flex: "3 1 200px" }}
              autosize
              value={call.input}
              error={parsed.ok ? undefined : "Not JSON"}
              onChange={(event) => put(index, { input: event.currentTarget.value })}
              styles={{ input: { fontFamily: "var(--mono)" } }}
            />
            <RemoveRowButton
              label={`Remove call ${index + 1}`}
              onClick={() => onChange(calls.filter((_, at) => at !== index))}
            />
          </div>
        );
      })}
      <AddRowButton onClick={() => onChange([...calls, begun(names[0] ?? "")])}>Add</AddRowButton>
    </div>
  );
}
