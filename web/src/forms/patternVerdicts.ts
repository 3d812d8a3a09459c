// Whether texts match the patterns of schemas. The page never runs a server's pattern, since a
// browser cannot stop one that takes hours. The backend does, with the engine that also validates
// what is sent; verdicts arrive later and are kept.
import { useSyncExternalStore } from "react";
import type { PatternCheck, PatternVerdicts } from "../api/types";
import { command } from "../state/commands";

export type Verdict = PatternVerdicts["verdicts"][number];

// The backend takes no more in one command.
const MOST_ASKED = 100;
const MOST_KEPT = 5000;
// Longer texts are validated when they are sent.
const LONGEST = 200_000;

const keyOf = (pattern: string, text: string): string => JSON.stringify([pattern, text]);

let kept = new Map<string, Verdict>();
const wanted = new Map<string, PatternCheck>();
const asked = new Set<string>();
const listeners = new Set<() => void>();
let version = 0;

function keep(keys: string[], verdicts: Verdict[]): void {
  if (kept.size > MOST_KEPT) kept = new Map();
  verdicts.forEach((verdict, index) => {
    kept.set(keys[index] ?? "", verdict);
  });
  version += 1;
  for (const listener of listeners) listener();
}

async function ask(): Promise<void> {
  const batch = [...wanted].slice(0, MOST_ASKED);
  if (batch.length === 0) return;
  const keys = batch.map(([key]) => key);
  for (const key of keys) {
    wanted.delete(key);
    asked.add(key);
  }
  try {
    const { verdicts } = await command("CheckPatterns", { checks: batch.map(([, one]) => one) });
    keep(keys, verdicts);
  } catch {
    // Without a backend nothing can be sent either; the next change asks again.
  } finally {
    for (const key of keys) asked.delete(key);
  }
  void ask();
}

/** Undefined until it is known; asking for it has it found out. */
export function verdictOf(pattern: string, text: string): Verdict | undefined {
  if (text.length > LONGEST) return "matches";
  const key = keyOf(pattern, text);
  const verdict = kept.get(key);
  if (verdict === undefined && !asked.has(key)) {
    if (wanted.size === 0) queueMicrotask(() => void ask());
    wanted.set(key, { pattern, text });
  }
  return verdict;
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Renders again when verdicts arrive; the number changes each time. */
export const useVerdicts = (): number => useSyncExternalStore(subscribe, () => version);
