// A field for what no form control can show: any JSON.
import { Input } from "@mantine/core";
import type { ErrorSchema, FieldProps } from "@rjsf/utils";
import { useState } from "react";
import { CodeEditor } from "../components/CodeEditor";
import { visible } from "../values/hiddenCharacters";
import { parseJson, pretty } from "../values/json";
import { describeField } from "./FieldDescription";
import { lossyNumber } from "./numbers";
import { usePartialInput } from "./partialInput";
import css from "./SchemaForm.module.css";
import { isUncheckedNote } from "./validate";

/** What is wrong with the value and with anything inside it. */
function errorsIn(errors: ErrorSchema | undefined, place = ""): string[] {
  return Object.entries<unknown>(errors ?? {}).flatMap(([key, inner]) => {
    if (key === "__errors")
      return (inner as string[])
        .filter(isWrong)
        .map((message) => (place ? `${place}: ${message}` : message));
    return errorsIn(inner as ErrorSchema, place ? `${place}.${key}` : key);
  });
}

// A note that something was not checked is in the list below the form.
const isWrong = (message: string): boolean => !isUncheckedNote(message);

function problemOf(text: string): string | null {
  if (text.trim() === "") return null;
  if (!parseJson(text).ok) return "This is not JSON. “Send anyway” sends it as text.";
  const number = lossyNumber(text);
  return number === null ? null : `The form would round ${number}. “Send anyway” sends all digits.`;
}

export function JsonField(props: FieldProps) {
  const { schema, formData, onChange, name, required, fieldPathId, rawErrors, errorSchema } = props;
  const [partial, keepPartial] = usePartialInput(fieldPathId.path, formData);
  const [typed, setTyped] = useState("");
  const parsed = parseJson(typed);
  const given = formData === undefined ? "" : pretty(formData);
  // As it was typed, unless it was changed from outside.
  const isSame = parsed.ok && pretty(parsed.value) === given;
  const text = partial ?? (isSame ? typed : given);
  const label = schema.title ?? props.title ?? name;
  const problem =
    problemOf(text) ?? [...(rawErrors ?? []).filter(isWrong), ...errorsIn(errorSchema)].join("\n");
  return (
    <Input.Wrapper
      label={`${visible(label)} (JSON)`}
      description={describeField(schema)}
      required={required ?? false}
      error={problem || undefined}
      size="xs"
      inputContainer={(editor) => <div className={css.json}>{editor}</div>}
    >
      <CodeEditor
        label={`${label} as JSON`}
        value={text}
        height={84}
        hint={required ? "Any JSON" : "not sent; any JSON"}
        onChange={(next) => {
          setTyped(next);
          const isPartial = problemOf(next) !== null;
          // An emptied list item is null, which must not be shown in the empty editor.
          const isEmptyItem = next.trim() === "" && typeof fieldPathId.path.at(-1) === "number";
          keepPartial(isPartial || isEmptyItem ? next : null);
          const value = parseJson(next);
          onChange(value.ok && !isPartial ? value.value : undefined, [...fieldPathId.path]);
        }}
      />
    </Input.Wrapper>
  );
}
