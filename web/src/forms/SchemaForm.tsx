// A form from a prepared schema. Loaded when the first form is shown.
import { getDefaultRegistry, withTheme } from "@rjsf/core";
// Only the templates: the whole theme includes date pickers.
import { generateTemplates } from "@rjsf/mantine/lib/templates/index.js";
import type { FieldProps, RJSFSchema, UiSchema, WidgetProps } from "@rjsf/utils";
import { useMemo } from "react";
import { DEFAULTS } from "./defaults";
import { FileField } from "./FileField";
import { withoutDefaults } from "./formSchema";
import { ListPathContext } from "./formValue";
import { JsonField } from "./JsonField";
import { NumberField } from "./NumberField";
import { errorSchemaOf, validator } from "./rjsfValidator";
import css from "./SchemaForm.module.css";
import { BYTES, JSON_FIELD, type Schema } from "./schema";
import { templates } from "./templates";
import { UnionField } from "./UnionField";
import type { Finding } from "./validate";
import { TextField, widgets } from "./widgets";

export { initialValue } from "./defaults";

const TextOrFile = (props: WidgetProps) =>
  BYTES in props.schema ? <FileField {...props} /> : <TextField {...props} />;

const { ArrayField } = getDefaultRegistry().fields;

const ListField = (props: FieldProps) => (
  <ListPathContext value={props.fieldPathId.path}>
    {ArrayField && <ArrayField {...props} />}
  </ListPathContext>
);

const Form = withTheme<unknown>({
  templates: { ...generateTemplates(), ...templates, BaseInputTemplate: TextOrFile },
  widgets,
  fields: {
    ArrayField: ListField,
    NumberField,
    AnyOfField: UnionField,
    OneOfField: UnionField,
    FallbackField: JsonField,
    [JSON_FIELD]: JsonField,
  },
});
const LOOK: UiSchema = { "ui:submitButtonOptions": { norender: true } };

interface SchemaFormProps {
  /** From toFormSchema(). */
  schema: Schema;
  /** Tells two forms on one page apart. */
  name: string;
  value: unknown;
  findings: Finding[];
  onChange(value: unknown): void;
}

export function SchemaForm({ schema, name, value, findings, onChange }: SchemaFormProps) {
  const drawn = useMemo(() => withoutDefaults(schema) as RJSFSchema, [schema]);
  const errors = useMemo(() => errorSchemaOf(findings), [findings]);
  return (
    <Form
      className={css.form}
      tagName="div"
      idPrefix={name}
      schema={drawn}
      uiSchema={LOOK}
      validator={validator}
      formData={value ?? {}}
      extraErrors={errors}
      experimental_defaultFormStateBehavior={DEFAULTS}
      showErrorList={false}
      noHtml5Validate
      onChange={(event) => onChange(event.formData)}
    />
  );
}
