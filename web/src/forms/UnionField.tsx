// Field for anyOf and oneOf: a select and the field of the selected kind. The library's own field
// switches the kind while the user types.
import { Select } from "@mantine/core";
import {
  type FieldProps,
  getDefaultFormState,
  getDiscriminatorFieldFromSchema,
  type RJSFSchema,
} from "@rjsf/utils";
import { useContext, useRef, useState } from "react";
import { visible } from "../values/hiddenCharacters";
import { DEFAULTS } from "./defaults";
import { describeField } from "./FieldDescription";
import { PartialInputContext, pointerOf, usePartialInput } from "./partialInput";
import { useVerdicts } from "./patternVerdicts";
import { validator } from "./rjsfValidator";
import css from "./SchemaForm.module.css";
import { JSON_FIELD } from "./schema";

function kindOf(value: unknown, { schema, options, registry }: FieldProps): number {
  const kinds = options as RJSFSchema[];
  if (value === undefined) return 0;
  const json = kinds.findIndex((kind) => kind.$id === JSON_FIELD);
  if (value === null) {
    const none = kinds.findIndex((kind) => kind.type === "null");
    return none < 0 ? Math.max(json, 0) : none;
  }
  const by = getDiscriminatorFieldFromSchema(schema);
  const found = registry.schemaUtils.getClosestMatchingOption(value, kinds, -1, by);
  return found < 0 ? Math.max(json, 0) : found;
}

/** What a value of the old kind becomes when another kind is chosen. */
function valueFor(kind: RJSFSchema, before: RJSFSchema | undefined, props: FieldProps): unknown {
  const { formData, registry } = props;
  const { schemaUtils, rootSchema } = registry;
  if (kind.$id === JSON_FIELD) return formData;
  if (kind.type === "null") return null;
  if (formData !== undefined && validator.isValid(kind, formData, rootSchema)) return formData;
  const isDrawn = before && before.$id !== JSON_FIELD && before.type !== "null";
  const kept: unknown = isDrawn
    ? schemaUtils.sanitizeDataForNewSchema(kind, before, formData)
    : undefined;
  return getDefaultFormState(validator, kind, kept, rootSchema, "excludeObjectChildren", DEFAULTS);
}

/** Partial input in the fields of a kind: the kind that has all of them, and dropping them. */
function usePartialFields({ fieldPathId, options }: FieldProps) {
  const { inputs, keep } = useContext(PartialInputContext);
  const own = pointerOf(fieldPathId.path);
  const inside = Object.keys(inputs).filter((one) => one === own || one.startsWith(`${own}/`));
  const names = inside.map((one) => one.slice(own.length).split("/")[1] ?? "");
  return {
    kind: names.length
      ? (options as RJSFSchema[]).findIndex(({ properties = {} }) =>
          names.every((name) => Object.hasOwn(properties, name)),
        )
      : -1,
    drop: () => {
      for (const pointer of inside) keep(pointer, null);
    },
  };
}

/** The chosen kind; until anything is touched it follows late verdicts on patterns. */
function useKind(props: FieldProps, begin: () => number): [number, (kind: number) => void] {
  const verdicts = useVerdicts();
  const [chosen, choose] = useState<number | null>(null);
  const first = useRef(props.formData as unknown);
  const isTouched = useRef(false);
  isTouched.current ||= chosen !== null || props.formData !== first.current;
  const kind = useRef<{ verdicts: number; at: number } | null>(null);
  if (kind.current === null || (!isTouched.current && kind.current.verdicts !== verdicts))
    kind.current = { verdicts, at: begin() };
  return [chosen ?? kind.current.at, choose];
}

export function UnionField(props: FieldProps) {
  const { schema, options, formData, fieldPathId, registry, onChange, name, required } = props;
  const kinds = options as RJSFSchema[];
  const [partial] = usePartialInput(fieldPathId.path, formData);
  const partialFields = usePartialFields(props);
  const json = kinds.findIndex((kind) => kind.$id === JSON_FIELD);
  const [chosen, choose] = useKind(props, () => {
    if (partial !== null && json >= 0) return json;
    return partialFields.kind >= 0 ? partialFields.kind : kindOf(formData, props);
  });
  const kind = kinds[chosen];
  const { SchemaField } = registry.fields;
  const label = schema.title ?? props.title ?? name;
  // A JSON field needs the name of the property as its title.
  const shown = kind?.$id === JSON_FIELD ? { ...kind, title: label } : kind;
  return (
    <div className={css.branches}>
      <Select
        id={`${fieldPathId.$id}__kind`}
        label={visible(label || "Kind of arguments")}
        description={describeField(schema)}
        required={required ?? false}
        disabled={(props.disabled || props.readonly) ?? false}
        allowDeselect={false}
        data={kinds.map((one, index) => ({
          value: String(index),
          label: visible(one.title ?? "value"),
        }))}
        value={String(chosen)}
        onChange={(next) => {
          const index = Number(next);
          const to = kinds[index];
          if (!to || index === chosen) return;
          choose(index);
          partialFields.drop();
          onChange(valueFor(to, kind, props), [...fieldPathId.path]);
        }}
      />
      {shown && shown.type !== "null" && SchemaField && (
        <SchemaField key={chosen} {...props} required={false} schema={shown} />
      )}
    </div>
  );
}
