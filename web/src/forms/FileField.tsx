// Field for base64 data: typed, pasted, or read from a file.
import { Button, FileButton, TextInput } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { useRef, useState } from "react";
import { errorMessage, formatBytes, truncate } from "../values/format";
import css from "./SchemaForm.module.css";
import { controlProps, TextField, valueWhenEmptied } from "./widgets";

/** Larger files make the page slow, since the arguments are one text. */
export const MOST_FILE_BYTES = 10_000_000;

const base64Of = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    // Removes the prefix of a data URL: data:image/png;base64,
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,?/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });

/** How many bytes a base64 text stands for. */
export const bytesIn = (text: string): number =>
  Math.floor((text.replace(/=+$/, "").length * 3) / 4);

// Longer texts are truncated: an input with megabytes is slow.
const MOST_TYPED = 20_000;

function disabledReason(file: File): string | null {
  if (file.size <= MOST_FILE_BYTES) return null;
  return `${file.name} has ${formatBytes(file.size)}; a form takes up to ${MOST_FILE_BYTES / 1_000_000} MB.`;
}

export function FileField(props: WidgetProps) {
  const { schema, value, onChange, label, disabled, readonly } = props;
  // Tied to the value of the file: later typing is not that file.
  const [told, tell] = useState<{ of: unknown; words: string } | null>(null);
  const reset = useRef<() => void>(null);
  const take = async (file: File): Promise<void> => {
    // So that the same file can be chosen again.
    reset.current?.();
    const problem = disabledReason(file);
    if (problem) return tell({ of: value, words: problem });
    try {
      const text = await base64Of(file);
      onChange(text);
      tell({ of: text, words: `${file.name}, ${formatBytes(file.size)}` });
    } catch (thrown) {
      tell({ of: value, words: `${file.name} cannot be read: ${errorMessage(thrown)}` });
    }
  };
  const isLong = typeof value === "string" && value.length > MOST_TYPED;
  return (
    <div>
      {isLong ? (
        <TextInput {...controlProps(props)} readOnly value={truncate(value, 200)} />
      ) : (
        <TextField {...props} />
      )}
      {!disabled && !readonly && (
        <div className={css.examples}>
          <FileButton resetRef={reset} onChange={(file) => file && void take(file)}>
            {(button) => (
              <Button
                {...button}
                size="compact-xs"
                variant="default"
                aria-label={`Choose a file for ${label || "this text"}`}
              >
                Choose a file…
              </Button>
            )}
          </FileButton>
          {isLong && (
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => onChange(valueWhenEmptied(schema))}
            >
              Remove
            </Button>
          )}
          <span className={css.about} role="status">
            {told?.of === value ? told?.words : isLong && formatBytes(bytesIn(value))}
          </span>
        </div>
      )}
    </div>
  );
}
