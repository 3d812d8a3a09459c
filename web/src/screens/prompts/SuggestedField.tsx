// A text field that the server may complete.
import { Autocomplete } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";
import type { ServerView } from "../../api/types";
import { command } from "../../state/connection";

interface ArgumentProps {
  server: ServerView;
  reference: Record<string, string>;
  name: string;
  label?: string;
  description?: string;
  isRequired?: boolean;
  values: Record<string, string>;
  onChange(value: string): void;
}

/** A text field that asks the server for suggestions, where it offers them. */
export function SuggestedField({
  server,
  reference,
  name,
  label,
  description,
  isRequired,
  values,
  onChange,
}: ArgumentProps) {
  const [suggestions, setSuggestions] = useState<string[]>([]);
  const isOffered = "completions" in server.capabilities;
  const ask = useDebouncedCallback((value: string) => {
    const { [name]: _, ...context } = values;
    command("Complete", {
      server_id: server.server_id,
      ref: reference,
      argument: name,
      value,
      context,
    }).then(
      (found) => setSuggestions([...new Set(found.values)]),
      () => setSuggestions([]),
    );
  }, 200);
  return (
    <Autocomplete
      label={label ?? name}
      description={description}
      required={isRequired}
      value={values[name] ?? ""}
      data={suggestions}
      // The server has chosen already; its suggestions need not begin with what is typed.
      filter={({ options }) => options}
      onFocus={() => isOffered && ask(values[name] ?? "")}
      onChange={(value) => {
        onChange(value);
        if (isOffered) ask(value);
      }}
    />
  );
}
