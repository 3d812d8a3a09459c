// Number input as text, so that it stays as typed. The arrow keys step.
import { TextInput } from "@mantine/core";
import type { FieldProps } from "@rjsf/utils";
import { useState } from "react";
import { EmptyValueField } from "./EmptyValueSelect";
import { readNumber } from "./numbers";
import { usePartialInput } from "./partialInput";
import { isRequiredField, VALUE_WHEN_EMPTIED } from "./schema";
import { controlProps, placeholderFor } from "./widgets";

export function NumberField(props: FieldProps) {
  const { schema, formData, onChange, name, required, fieldPathId, rawErrors } = props;
  const { disabled = false, readonly = false } = props;
  const [partial, keepPartial] = usePartialInput(fieldPathId.path, formData);
  const [typed, setTyped] = useState("");
  const isSame = typed !== "" && typeof formData === "number" && Number(typed) === formData;
  const given = formData == null ? "" : isSame ? typed : JSON.stringify(formData);
  const text = partial ?? given;
  const read = partial === null ? null : readNumber(partial);
  const problem = read && "problem" in read ? [read.problem] : rawErrors;
  const take = (next: string): void => {
    setTyped(next);
    const found = next.trim() === "" ? null : readNumber(next);
    keepPartial(found && "problem" in found ? next : null);
    const emptied: unknown = (schema as Record<string, unknown>)[VALUE_WHEN_EMPTIED];
    onChange(found && "value" in found ? found.value : found ? undefined : emptied, [
      ...fieldPathId.path,
    ]);
  };
  const step = (by: number): void => {
    const from = text === "" ? { value: 0 } : readNumber(text);
    // Decimal fractions do not add up exactly: 0.1 + 0.2.
    if ("value" in from) take(String(Number((from.value + by).toPrecision(15))));
  };
  const size = typeof schema.multipleOf === "number" ? schema.multipleOf : 1;
  return (
    <EmptyValueField
      {...{ id: fieldPathId.$id, schema, value: formData as unknown, required }}
      isOff={disabled || readonly}
      isFilled={partial !== null}
      onChange={(value) => onChange(value, [...fieldPathId.path])}
    >
      <TextInput
        {...controlProps({
          ...{ id: fieldPathId.$id, schema, required, disabled, readonly, options: {} },
          label: props.title ?? schema.title ?? name,
          rawErrors: problem ?? [],
        })}
        inputMode={schema.type === "integer" ? "numeric" : "decimal"}
        autoComplete="off"
        placeholder={placeholderFor(formData, isRequiredField(schema, required))}
        value={text}
        onChange={(event) => take(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (readonly || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
          event.preventDefault();
          step(event.key === "ArrowUp" ? size : -size);
        }}
      />
    </EmptyValueField>
  );
}
