// What a field sends while it is empty, and the choice of it: out of the way until one is at the
// field, unless it sends more than nothing.
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { type Empty, emptiesOf, emptyOf, isPlain, sentFor, wordsFor } from "./empties";
import css from "./SchemaForm.module.css";
import { type Schema, unmarked } from "./schema";
import { isValid } from "./validate";

interface Props {
  /** Of the control whose label tells the choice from the others. */
  id: string;
  schema: object;
  value: unknown;
  required?: boolean | undefined;
  /** Not to be changed at all. */
  isOff?: boolean | undefined;
  /** It holds something, whatever the value looks like. */
  isFilled?: boolean;
  onChange(value: unknown): void;
}

export function SentAs(props: Props) {
  const { id, schema, value, required = false, isOff, isFilled, onChange } = props;
  const drawn = schema as Schema;
  const now = emptyOf(value);
  if (now === null || isOff || isFilled || "const" in drawn) return null;
  const choices = emptiesOf(drawn, now);
  if (choices.length < 2 && now !== "null") return null;
  return (
    <select
      className={css.sentAs}
      data-plain={isPlain(drawn, now, required) || undefined}
      aria-label="While it is empty"
      aria-describedby={`${id}-label`}
      value={now}
      onChange={(event) => onChange(sentFor(drawn, event.currentTarget.value as Empty))}
    >
      {choices.map((one) => (
        <option key={one} value={one}>
          {wordsFor(drawn, one)}
        </option>
      ))}
    </select>
  );
}

interface FieldProps extends Props {
  rawErrors?: string[] | undefined;
  children: ReactNode;
}

/** A control, and beside it what it sends while it is empty. */
export function Emptied({ rawErrors, children, ...props }: FieldProps) {
  const { schema, value, required, isOff, onChange } = props;
  const isMissing = value === undefined && required && !isOff && rawErrors?.length;
  const isText = (schema as Schema).type === "string" && !("enum" in schema);
  return (
    <div className={css.emptied}>
      {children}
      {isMissing && isText && isValid(unmarked(schema), "") ? (
        <Button size="compact-xs" variant="default" mt={4} onClick={() => onChange("")}>
          Send an empty text
        </Button>
      ) : null}
      <SentAs {...props} />
    </div>
  );
}
