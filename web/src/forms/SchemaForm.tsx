// A form from a JSON Schema. Loaded when the first form is shown.
import Form from "@rjsf/mantine";
import { getDefaultFormState, type RJSFSchema, type UiSchema } from "@rjsf/utils";
import { useEffect, useMemo } from "react";
import { JsonField } from "./JsonField";
import { isWithoutFields, JSON_FIELD, prepare, type Schema } from "./prepare";
import css from "./SchemaForm.module.css";
import { templates } from "./templates";
import type { Finding } from "./validate";
import { errorSchemaOf, validator } from "./validator";

// Keeps defaults and constants, picks no option by itself and fills no list with empty items.
const DEFAULTS = { constAsDefaults: "skipOneOf", arrayMinItems: { populate: "never" } } as const;
const LOOK: UiSchema = { "ui:submitButtonOptions": { norender: true } };
const FIELDS = { [JSON_FIELD]: JsonField };

export interface SchemaFormProps {
  schema: unknown;
  /** Tells two forms on one page apart. */
  name: string;
  value: unknown;
  findings: Finding[];
  onChange(value: unknown): void;
}

/** What a form starts with: the schema's own defaults. */
export function initialValue(prepared: Schema): unknown {
  const schema = prepared as RJSFSchema;
  return getDefaultFormState(validator, schema, undefined, schema, false, DEFAULTS) ?? {};
}

export function SchemaForm({ schema, name, value, findings, onChange }: SchemaFormProps) {
  const prepared = useMemo(() => prepare(schema), [schema]);
  const errors = useMemo(() => errorSchemaOf(findings), [findings]);
  useEffect(() => {
    if (value === undefined && prepared) onChange(initialValue(prepared));
  }, [value, prepared, onChange]);
  if (!prepared)
    return <p className="dim">This schema describes no fields. Type the arguments as JSON.</p>;
  if (isWithoutFields(prepared)) return <p className="dim">Nothing to fill in.</p>;
  return (
    <Form
      className={css.form}
      tagName="div"
      idPrefix={name}
      schema={prepared as RJSFSchema}
      uiSchema={LOOK}
      validator={validator}
      fields={FIELDS}
      templates={templates}
      formData={value ?? {}}
      extraErrors={errors}
      experimental_defaultFormStateBehavior={DEFAULTS}
      showErrorList={false}
      noHtml5Validate
      onChange={(event) => onChange(event.formData)}
    />
  );
}
