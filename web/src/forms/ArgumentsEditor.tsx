// Arguments as a form or as JSON, switched at any time. The text is the one truth: the form reads
// it and writes it, so nothing is lost either way, and what is half typed stays as it is.
import { SegmentedControl } from "@mantine/core";
import { useMemo } from "react";
import { CodeEditor } from "../parts/CodeEditor";
import { parseJson, pretty } from "../parts/text";
import { lazyModule, useModule } from "../parts/useModule";
import type { Finding } from "./validate";

export const formModule = lazyModule(() => import("./SchemaForm"));

export interface Arguments {
  /** Null until anything was typed or filled in. */
  text: string | null;
  mode: "form" | "json";
}

export const NO_ARGUMENTS: Arguments = { text: null, mode: "form" };

interface Props {
  name: string;
  title?: string;
  schema: unknown;
  value: Arguments;
  findings: Finding[];
  onChange(value: Arguments): void;
}

const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function ArgumentsEditor({
  name,
  title = "Arguments",
  schema,
  value,
  findings,
  onChange,
}: Props) {
  const module = useModule(formModule);
  const parsed = useMemo(() => (value.text === null ? null : parseJson(value.text)), [value.text]);
  const data = parsed?.ok ? parsed.value : undefined;
  const isFormable = parsed === null || (parsed.ok && isObject(parsed.value));
  return (
    <div className="stack">
      <div className="row wrap">
        <h3 className="section-title grow">{title}</h3>
        <SegmentedControl
          aria-label="How to enter the arguments"
          data={[
            { value: "form", label: "Form" },
            { value: "json", label: "JSON" },
          ]}
          value={value.mode}
          onChange={(mode) =>
            onChange({
              ...value,
              text: value.text ?? "{}",
              mode: mode === "json" ? "json" : "form",
            })
          }
        />
      </div>
      {value.mode === "json" ? (
        <CodeEditor
          label="Arguments as JSON"
          height={260}
          value={value.text ?? "{}"}
          onChange={(text) => onChange({ ...value, text })}
        />
      ) : !isFormable ? (
        <p className="dim" role="status">
          The JSON is not an object yet, so the form cannot show it. It is kept: switch back to JSON
          to go on.
        </p>
      ) : module ? (
        <module.SchemaForm
          key={name}
          name={name.replace(/\W/g, "_")}
          schema={schema}
          value={data}
          findings={findings}
          onChange={(next) => onChange({ mode: "form", text: pretty(next ?? {}) })}
        />
      ) : (
        <p className="dim">Loading the form…</p>
      )}
    </div>
  );
}
