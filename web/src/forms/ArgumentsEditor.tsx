// Edits arguments as a form or as JSON. The JSON text is the source of truth: the form reads and
// writes it, so switching loses nothing.
import { SegmentedControl } from "@mantine/core";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { CodeEditor } from "../components/CodeEditor";
import { lazyModule, useModule } from "../components/lazyModule";
import { ModuleLoading } from "../components/ModuleLoading";
import { parseJson, pretty } from "../values/json";
import { Findings } from "./Findings";
import { FormErrorBoundary } from "./FormErrorBoundary";
import { withoutField } from "./fieldFindings";
import { type FormPlan, formSchemaOf, namesWithoutField, planForm } from "./formSchema";
import { FormValueContext, withValueAt } from "./formValue";
import { lossyNumber } from "./numbers";
import {
  PartialInputContext,
  type PartialInputs,
  withoutPartialInputs,
  withPartialInputs,
} from "./partialInput";
import { inSchemaOrder } from "./propertyOrder";
import { HAS_UNSUPPORTED, hasUnsupportedProperty, isSchema, UNSUPPORTED_PROPERTY } from "./schema";
import { useFocusInvalid } from "./useFocusInvalid";
import type { Finding } from "./validate";

export const formModule = lazyModule(() => import("./SchemaForm"));

export interface Arguments {
  /** Null until anything was typed or filled in. */
  text: string | null;
  mode: "form" | "json";
  /** Partial input of form fields that is not a valid value yet, by JSON pointer. */
  partial?: PartialInputs;
}

export const NO_ARGUMENTS: Arguments = { text: null, mode: "form" };

interface Props {
  name: string;
  title?: string;
  schema: unknown;
  /** Headers repeat the arguments that the schema names (2026-07-28, `x-mcp-header`). */
  sendsHeaders?: boolean;
  value: Arguments;
  findings: Finding[];
  unchecked: Finding[];
  /** How often they were refused because they are invalid. */
  refused?: number;
  /** Beside the switch of form and JSON. */
  action?: ReactNode;
  onChange(value: Arguments): void;
}

/** Why the form cannot show this text; null if it can. */
export function formObstacle(text: string | null): string | null {
  const parsed = parseJson(text ?? "{}");
  if (!parsed.ok || !isSchema(parsed.value)) return "The JSON is not an object yet";
  if (text?.includes(UNSUPPORTED_PROPERTY) && hasUnsupportedProperty(parsed.value))
    return `The form would lose ${UNSUPPORTED_PROPERTY}`;
  const number = lossyNumber(text ?? "");
  return number === null ? null : `The form would round the number ${number}`;
}

function initialText(module: typeof import("./SchemaForm"), plan: FormPlan): string {
  if (plan.kind !== "form") return "{}";
  try {
    return pretty(inSchemaOrder(plan.schema, module.initialValue(plan.schema)));
  } catch {
    return "{}";
  }
}

/** Initial arguments of a schema, after loading the form module. */
export const initialArguments = async (schema: unknown): Promise<string> =>
  initialText(await formModule.load(), planForm(schema));

function useFormPlan(schema: unknown, sendsHeaders: boolean): [FormPlan, (why: string) => void] {
  const [broken, setBroken] = useState<{ schema: unknown; why: string } | null>(null);
  const plan = useMemo(() => planForm(schema, sendsHeaders), [schema, sendsHeaders]);
  const note = `This schema cannot be shown as a form: ${broken?.why}. Write the arguments as JSON.`;
  return [
    broken?.schema === schema && broken ? { kind: "json", note } : plan,
    (why) => setBroken({ schema, why }),
  ];
}

/** The same arguments as a form or as JSON, which shows also what is typed but not valid yet. */
function inMode(value: Arguments, mode: Arguments["mode"], plan: FormPlan): Arguments {
  const { text, partial } = value;
  if (text === null || !partial || mode === value.mode) return { ...value, mode };
  if (mode === "form") return { ...value, mode, text: withoutPartialInputs(text, partial) };
  const typed = (): string => withPartialInputs(text, partial, formSchemaOf(plan));
  return { ...value, mode, text: formObstacle(text) ? text : typed() };
}

export function ArgumentsEditor(props: Props) {
  const { title = "Arguments", schema, sendsHeaders = false, value, findings } = props;
  const { unchecked, refused = 0, onChange } = props;
  const place = useFocusInvalid(refused);
  const module = useModule(formModule);
  const [plan, setBroken] = useFormPlan(schema, sendsHeaders);
  // Defaults are filled in as soon as the form module is loaded, in either mode.
  useEffect(() => {
    if (value.text === null && module) onChange({ ...value, text: initialText(module, plan) });
  }, [value, module, plan, onChange]);
  const isJson = value.mode === "json" || plan.kind === "json";
  const isComing = plan.kind === "form" && !isJson && (!module || value.text === null);
  return (
    <div className="stack" data-form ref={place}>
      <div className="row wrap">
        <h3 className="section-title grow">{title}</h3>
        {props.action}
        <SegmentedControl
          aria-label="How to enter the arguments"
          data={[
            { value: "form", label: "Form" },
            { value: "json", label: "JSON" },
          ]}
          value={value.mode}
          onChange={(mode) => onChange(inMode(value, mode === "json" ? "json" : "form", plan))}
        />
      </div>
      {plan.kind === "json" && value.mode === "form" && (
        <p className="dim" role="status">
          {plan.note}
        </p>
      )}
      <div className="stack" data-fields={isComing ? "coming" : "there"}>
        {isJson ? (
          <CodeEditor
            label="Arguments as JSON"
            height={260}
            value={value.text ?? "{}"}
            onChange={(text) => onChange({ ...value, text })}
          />
        ) : (
          <FormErrorBoundary key={props.name} onError={setBroken}>
            <ArgumentsForm {...props} plan={plan} />
          </FormErrorBoundary>
        )}
      </div>
      <Findings findings={isJson ? findings : withoutField(plan, findings)} unchecked={unchecked} />
    </div>
  );
}

function ExtraArguments({ names }: { names: string[] }) {
  if (names.length === 0) return null;
  return (
    <p className="dim" role="status">
      Also sent, although the form has no field for it: {names.join(", ")}. See JSON.
    </p>
  );
}

function ArgumentsForm(props: Props & { plan: FormPlan }) {
  const { name, value, findings, unchecked, onChange, plan } = props;
  const module = useModule(formModule);
  const problem = useMemo(() => formObstacle(value.text), [value.text]);
  const data = useMemo(
    () => (problem ? undefined : (JSON.parse(value.text ?? "{}") as unknown)),
    [problem, value.text],
  );
  const told = useMemo(() => [...findings, ...unchecked], [findings, unchecked]);
  // One key stroke may change the value and the partial input separately.
  const latest = useRef(value);
  latest.current = value;
  // Fields hold internal state; a value from outside remounts the form.
  const written = useRef({ text: value.text, version: 0 });
  if (written.current.text !== value.text)
    written.current = { text: value.text, version: written.current.version + 1 };
  const change = (changed: Partial<Arguments>): void => {
    latest.current = { ...latest.current, ...changed };
    written.current.text = latest.current.text;
    onChange(latest.current);
  };
  const keep = (pointer: string, text: string | null): void => {
    const { [pointer]: before, ...partial } = latest.current.partial ?? {};
    if (text !== null) change({ partial: { ...partial, [pointer]: text } });
    else if (before !== undefined) change({ partial });
  };
  if (problem)
    return (
      <p className="dim" role="status">
        {problem}, so the form cannot show it. Nothing is lost: switch back to JSON.
      </p>
    );
  const unseen = <ExtraArguments names={namesWithoutField(plan, data)} />;
  if (plan.kind !== "form")
    return (
      <>
        <p className="dim">{props.title ? "Nothing to fill in." : "No arguments."}</p>
        {unseen}
      </>
    );
  if (!module || value.text === null) return <ModuleLoading loader={formModule} what="the form" />;
  const write = (next: unknown): void => change({ text: pretty(inSchemaOrder(plan.schema, next)) });
  const formValue = {
    value: data,
    set: (path: readonly (string | number)[], next: unknown) =>
      write(withValueAt(data, path, next)),
  };
  return (
    <PartialInputContext value={{ inputs: value.partial ?? {}, keep }}>
      <FormValueContext value={formValue}>
        <module.SchemaForm
          key={written.current.version}
          name={name.replace(/\W/g, "_")}
          schema={plan.schema}
          value={data}
          findings={told}
          onChange={(next) => write(next ?? {})}
        />
      </FormValueContext>
      {plan.schema[HAS_UNSUPPORTED] === true && (
        <p className="dim" role="status">
          The property <span className="mono">{UNSUPPORTED_PROPERTY}</span> cannot be a field of a
          form: send it as JSON.
        </p>
      )}
      {unseen}
    </PartialInputContext>
  );
}
