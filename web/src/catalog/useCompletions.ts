// Completions (completion/complete) for an argument of a prompt or a variable of a template.
import { useDebouncedCallback } from "@mantine/hooks";
import { useRef, useState } from "react";
import type { CompletionView, ServerView } from "../api/types";
import { command } from "../state/commands";
import { errorViewOf } from "../state/toasts";

// Debounce: the server is asked when typing pauses.
const PAUSE_MS = 200;

export interface CompletionArgument {
  server: ServerView;
  reference: Record<string, string>;
  name: string;
  /** Values of all arguments. */
  values: Record<string, string>;
}

export interface Completions {
  values: string[];
  /** How many more there are, as text. */
  more: string | null;
  problem: string | null;
}

const NONE: Completions = { values: [], more: null, problem: null };

/** How many completions a reply leaves out, if the server says. */
export function remainingLabel({ values, total, has_more }: CompletionView): string | null {
  if (total !== null && total > values.length) return `${values.length} of ${total}`;
  return has_more ? `The first ${values.length}; there are more` : null;
}

/** The other arguments that have a value. */
const contextOf = (values: Record<string, string>, name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([key, value]) => key !== name && value !== ""));

export function useCompletions({ server, reference, name, values }: CompletionArgument): {
  found: Completions;
  ask(value: string): void;
} {
  const [found, setFound] = useState(NONE);
  const turn = useRef(0);
  const { server_id, state, capabilities } = server;
  const isOffered = state === "CONNECTED" && "completions" in capabilities;
  const send = useDebouncedCallback(async (value: string, asked: number) => {
    let next: Completions;
    try {
      const context = contextOf(values, name);
      const fields = { server_id, ref: reference, argument: name, value, context };
      const reply = await command("Complete", fields);
      next = { values: [...new Set(reply.values)], more: remainingLabel(reply), problem: null };
    } catch (thrown) {
      next = { ...NONE, problem: errorViewOf(thrown).message };
    }
    // Ignore the reply to an outdated input.
    if (asked === turn.current) setFound(next);
  }, PAUSE_MS);
  const ask = (value: string): void => {
    turn.current += 1;
    if (isOffered) send(value, turn.current);
  };
  return { found, ask };
}
