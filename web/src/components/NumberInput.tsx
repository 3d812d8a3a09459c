// A field for a number, kept as typed; the arrow keys step. Mantine's own field brings a library of
// 9 kB to the first screen.
import { TextInput, type TextInputProps } from "@mantine/core";
import { useState } from "react";

interface Props extends Omit<TextInputProps, "value" | "onChange" | "min" | "max" | "step"> {
  value: number | "";
  /** "" if nothing is typed, or not yet a number. */
  onChange(value: number | ""): void;
  min?: number;
  max?: number;
  step?: number;
}

const numberIn = (text: string): number | "" =>
  text.trim() === "" || Number.isNaN(Number(text)) ? "" : Number(text);

export function NumberInput({ value, onChange, min = -Infinity, max, step = 1, ...rest }: Props) {
  const [typed, setTyped] = useState("");
  const shown = numberIn(typed) === value ? typed : String(value);
  const take = (text: string): void => {
    const allowed = min < 0 ? /^-?\d*\.?\d*$/ : /^\d*\.?\d*$/;
    if (!allowed.test(text)) return;
    setTyped(text);
    onChange(numberIn(text));
  };
  const move = (by: number): void => {
    // Decimal fractions do not add up exactly: 0.1 + 0.2.
    const next = Number(((value || 0) + by).toPrecision(15));
    take(String(Math.min(Math.max(next, min), max ?? Infinity)));
  };
  return (
    <TextInput
      {...rest}
      inputMode="decimal"
      autoComplete="off"
      value={shown}
      onChange={(event) => take(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
        event.preventDefault();
        move(event.key === "ArrowUp" ? step : -step);
      }}
    />
  );
}
