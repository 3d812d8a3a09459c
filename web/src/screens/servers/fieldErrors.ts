// What the backend refused of an entry, at the fields of its form. The keys are paths in the entry,
// and `@name` for the name of the server.
import type { ErrorView } from "../../api/types";
import { type FieldErrors, fieldErrorsOf } from "../../values/fieldErrors";
import type { EntryForm } from "./serverEntry";

export interface Refusal {
  error: ErrorView;
  /** The form as it was refused: a mark goes when its field is changed. */
  form: EntryForm;
}

const COMMAND = ["command", "args", "env", "cwd", "envFile", "inheritEnv"];
const URL = ["url", "transport", "headers", "caFile", "insecure"];
/** Fields that are drawn only when the advanced ones are open. */
const BASIC = ["@name", "command", "args", "env", "cwd", "url", "transport", "headers"];
/** Fields whose key in the file has another name. */
const RENAMED: Record<string, keyof EntryForm> = {
  "@name": "name",
  name: "title",
  type: "transport",
  serverUrl: "url",
  httpUrl: "url",
};
const PAIRS = ["env", "headers", "secretKeys"] as const;

const rootOf = (key: string): string => key.split(/[.[]/)[0] ?? key;

/** What is typed at a key; undefined if the form has no field for it. */
function typedAt(form: EntryForm, key: string): unknown {
  const root = rootOf(key);
  const others: readonly string[] = form.kind === "command" ? URL : COMMAND;
  const field = RENAMED[root] ?? root;
  if (others.includes(field) || !(field in form) || (field === "name" && root !== "@name"))
    return undefined;
  const list = PAIRS.find((one) => one === field);
  if (!list) return form[field as keyof EntryForm];
  return form[list].find(([name]) => key === `${list}.${name}`)?.[1];
}

/** The errors that still stand at a field of the form. */
export function marksOf(refusal: Refusal | null, form: EntryForm): FieldErrors {
  const errors = refusal ? [...fieldErrorsOf(refusal.error)] : [];
  return new Map(
    errors.filter(([key]) => {
      const typed = typedAt(form, key);
      return typed !== undefined && refusal && typed === typedAt(refusal.form, key);
    }),
  );
}

/** Whether all that was refused is marked at a field, so that a note beside it would repeat it. */
export const isAllMarked = ({ error, form }: Refusal): boolean => {
  const errors = fieldErrorsOf(error);
  return errors.size > 0 && [...errors.keys()].every((key) => typedAt(form, key) !== undefined);
};

/** The error at a field: at its key, or anywhere inside its value. */
export function errorAt(errors: FieldErrors, key: string): string | null {
  for (const [at, text] of errors) {
    if (at === key) return text;
    if (at.startsWith(`${key}[`) || at.startsWith(`${key}.`)) return `${at}: ${text}`;
  }
  return null;
}

export const isAdvanced = (key: string): boolean => !BASIC.includes(rootOf(key));
