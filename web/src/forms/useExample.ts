// Plausible values for a form, made by the backend of its schema.
import { useMemo, useState } from "react";
import { command } from "../state/commands";
import { withErrorToast } from "../state/toasts";
import { pretty } from "../values/json";
import type { Arguments } from "./ArgumentsEditor";
import { planForm } from "./formSchema";

export interface Example {
  isPut: boolean;
  /** Fills the form, or takes back what it was filled with. */
  put(): void;
}

/** An example for a form; null if it has no fields. */
export function useExample(
  schema: unknown,
  draft: Arguments,
  setDraft: (draft: Arguments) => void,
): Example | null {
  const [put, setPut] = useState<{ text: string; before: Arguments } | null>(null);
  const hasFields = useMemo(() => planForm(schema).kind !== "nothing", [schema]);
  if (!hasFields) return null;
  const isPut = put !== null && put.text === draft.text;
  const fill = async (): Promise<void> => {
    const raw = { schema: JSON.stringify(schema) };
    const asked = command<"MakeExample", "schema">("MakeExample", {}, raw);
    const made = await withErrorToast("There is no example", asked);
    if (made === null) return;
    const text = pretty(made.arguments);
    setPut({ text, before: draft });
    setDraft({ mode: draft.mode, text });
  };
  return {
    isPut,
    put: () => (isPut ? setDraft({ ...put.before, mode: draft.mode }) : void fill()),
  };
}
