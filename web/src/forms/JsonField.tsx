// A field for what no form control can show: any JSON.
import { Input } from "@mantine/core";
import type { FieldProps } from "@rjsf/utils";
import { useState } from "react";
import { CodeEditor } from "../parts/CodeEditor";
import { parseJson, pretty } from "../parts/text";

export function JsonField({
  schema,
  formData,
  onChange,
  name,
  required,
  fieldPathId,
  rawErrors,
}: FieldProps) {
  const [text, setText] = useState(formData === undefined ? "" : pretty(formData));
  const parsed = parseJson(text);
  const current = text.trim() === "" ? "" : parsed.ok ? pretty(parsed.value) : null;
  const outside = formData === undefined ? "" : pretty(formData);
  // Changed from outside, for example by the JSON tab; what is half typed here stays.
  if (current !== null && current !== outside) setText(outside);
  const label = schema.title ?? name;
  const problem =
    text.trim() !== "" && !parsed.ok
      ? "This is not JSON yet; it is left out."
      : rawErrors?.join(" ");
  return (
    <Input.Wrapper
      label={`${label} (JSON)`}
      description={schema.description}
      required={required}
      error={problem}
      size="xs"
    >
      <CodeEditor
        label={`${label} as JSON`}
        value={text}
        height={84}
        hint="Any JSON"
        onChange={(next) => {
          setText(next);
          const value = parseJson(next);
          if (next.trim() === "") onChange(undefined, fieldPathId.path);
          else if (value.ok) onChange(value.value, fieldPathId.path);
        }}
      />
    </Input.Wrapper>
  );
}
