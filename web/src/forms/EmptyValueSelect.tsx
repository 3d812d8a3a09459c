// Select for what an empty field sends (nothing, an empty value, or null). Hidden until hover or
// focus, unless it sends something.
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { useVerdicts } from "./patternVerdicts";
import css from "./SchemaForm.module.css";
import {
  CHOICES,
  isNull,
  isSchema,
  LIST_ITEM,
  NULLABLE,
  type Schema,
  withoutMarks,
} from "./schema";
import { isValid } from "./validate";

type EmptyValue = "nothing" | "empty" | "null";

const EMPTY_OF: Readonly<Record<string, [unknown, string]>> = {
  string: ["", "Sent as empty text"],
  array: [[], "Sent as an empty list"],
  object: [{}, "Sent as an empty object"],
  boolean: [false, "Sent as false"],
};

/** Which empty value this is; null if it is not empty. */
export function emptyKind(value: unknown): EmptyValue | null {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  const isEmpty =
    value === "" ||
    value === false ||
    (Array.isArray(value) && value.length === 0) ||
    (isSchema(value) && Object.keys(value).length === 0);
  return isEmpty ? "empty" : null;
}

const emptyValue = (schema: Schema): [unknown, string] | undefined =>
  schema[CHOICES] ? undefined : EMPTY_OF[String(schema.type)];

/** Whether null is one of its choices. */
const hasNull = ({ enum: values, oneOf }: Schema): boolean =>
  (Array.isArray(values) && values.includes(null)) || (Array.isArray(oneOf) && oneOf.some(isNull));

/** The empty values that this field may send, including the current one. */
export function emptyChoices(schema: Schema, now: EmptyValue): EmptyValue[] {
  const can: Record<EmptyValue, boolean> = {
    nothing: !schema[LIST_ITEM],
    empty: emptyValue(schema) !== undefined,
    null: schema[NULLABLE] === true && !hasNull(schema),
  };
  return (["nothing", "empty", "null"] as const).filter((one) => can[one] || one === now);
}

function valueFor(schema: Schema, empty: EmptyValue): unknown {
  if (empty === "null") return null;
  return empty === "empty" ? emptyValue(schema)?.[0] : undefined;
}

function emptyLabel(schema: Schema, empty: EmptyValue): string {
  if (empty === "nothing") return "Not sent";
  return (empty === "empty" && emptyValue(schema)?.[1]) || "Sent as null";
}

/** Whether the choice is the expected one and needs no attention. */
function isExpected(schema: Schema, now: EmptyValue, isRequired: boolean): boolean {
  return now === "nothing" || (now === "empty" && isRequired && schema.type !== "string");
}

interface Props {
  /** Id of the control whose label describes the select. */
  id: string;
  schema: object;
  value: unknown;
  required?: boolean | undefined;
  /** Disabled or read-only. */
  isOff?: boolean | undefined;
  /** The field is not empty, whatever the value. */
  isFilled?: boolean;
  onChange(value: unknown): void;
}

export function EmptyValueSelect(props: Props) {
  const { id, schema, value, required = false, isOff, isFilled, onChange } = props;
  const drawn = schema as Schema;
  const now = emptyKind(value);
  if (now === null || isOff || isFilled || "const" in drawn) return null;
  const choices = emptyChoices(drawn, now);
  if (choices.length < 2 && now !== "null") return null;
  return (
    <select
      className={css.sentAs}
      data-plain={isExpected(drawn, now, required) || undefined}
      aria-label="When empty"
      aria-describedby={`${id}-label`}
      value={now}
      onChange={(event) => onChange(valueFor(drawn, event.currentTarget.value as EmptyValue))}
    >
      {choices.map((one) => (
        <option key={one} value={one}>
          {emptyLabel(drawn, one)}
        </option>
      ))}
    </select>
  );
}

interface FieldProps extends Props {
  rawErrors?: string[] | undefined;
  children: ReactNode;
}

/** A control with its empty-value select. */
export function EmptyValueField({ rawErrors, children, ...props }: FieldProps) {
  const { schema, value, required, isOff, onChange } = props;
  const isMissing = value === undefined && required && !isOff && rawErrors?.length;
  useVerdicts();
  const isText = (schema as Schema).type === "string" && !("enum" in schema);
  return (
    <div className={css.emptied}>
      {children}
      {isMissing && isText && isValid(withoutMarks(schema), "") ? (
        <Button size="compact-xs" variant="default" mt={4} onClick={() => onChange("")}>
          Send an empty text
        </Button>
      ) : null}
      <EmptyValueSelect {...props} />
    </div>
  );
}
