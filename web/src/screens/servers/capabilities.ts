// What we declare to a server, part by part: how each switch reads and changes it.
import { fieldsOf } from "../../values/shape";

export type Capabilities = Record<string, unknown>;

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

interface Part {
  name: string;
  label: string;
  about: string;
  /** As it is declared with all that it may have; what the backend would declare by itself. */
  full: Capabilities;
  /** Features that may be left out, by their key. */
  features: { key: string; label: string }[];
}

export const PARTS: Part[] = [
  {
    name: "sampling",
    label: "Sampling",
    about: "It may ask for a model's answer",
    full: { tools: {}, context: {} },
    features: [
      { key: "tools", label: "with tools" },
      { key: "context", label: "with context" },
    ],
  },
  {
    name: "elicitation",
    label: "Elicitation",
    about: "It may ask a person",
    full: { form: {}, url: {} },
    features: [
      { key: "form", label: "by a form" },
      { key: "url", label: "at a URL" },
    ],
  },
  {
    name: "roots",
    label: "Roots",
    about: "It may ask which folders it can work in",
    full: { listChanged: true },
    features: [{ key: "listChanged", label: "and is told of changes" }],
  },
  {
    name: "tasks",
    label: "Tasks",
    about: "It may ask the above as tasks (2025-11-25)",
    full: {
      list: {},
      cancel: {},
      requests: { sampling: { createMessage: {} }, elicitation: { create: {} } },
    },
    features: [],
  },
];

export const isOn = (capabilities: Capabilities, name: string): boolean =>
  capabilities[name] !== undefined && capabilities[name] !== null;

export function hasFeature(capabilities: Capabilities, name: string, key: string): boolean {
  const value = fieldsOf(capabilities[name])[key];
  return value !== undefined && value !== null && value !== false;
}

/** What to send so that a feature is declared, or no longer. */
export function withFeature(
  capabilities: Capabilities,
  part: Part,
  key: string,
  isWanted: boolean,
): Capabilities {
  const { [key]: _, ...others } = fieldsOf(capabilities[part.name]);
  return { [part.name]: isWanted ? { ...others, [key]: part.full[key] } : others };
}

/** What to send so that a name stands under `experimental` or `extensions`, or no longer. */
export function withNamed(
  capabilities: Capabilities,
  kind: "experimental" | "extensions",
  name: string,
  value: unknown,
): Capabilities {
  const { [name]: _, ...others } = fieldsOf(capabilities[kind]);
  const kept = value === undefined ? others : { ...others, [name]: value };
  // This extension is declared unless it is taken away by its name.
  if (kind === "extensions")
    return { extensions: TASKS_EXTENSION in kept ? kept : { ...kept, [TASKS_EXTENSION]: null } };
  return { experimental: Object.keys(kept).length ? kept : null };
}
