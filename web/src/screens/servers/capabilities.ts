// Client capabilities: how the switches read and change them.
import type { ServerView } from "../../api/types";
import { DEFAULT_EXTENSIONS, isStateless, STATELESS } from "../../state/protocol";
import { fieldsOf } from "../../values/jsonObject";

export type Capabilities = Record<string, unknown>;

interface Part {
  name: string;
  label: string;
  about: string;
  /** Declared with all features; the backend's default. */
  full: Capabilities;
  /** Optional features, by key. */
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
    features: [{ key: "listChanged", label: "and is notified of changes" }],
  },
  {
    name: "tasks",
    label: "Tasks",
    about: "It may ask the above as tasks",
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

/** The update that adds or removes a feature. */
export function withFeature(
  capabilities: Capabilities,
  part: Part,
  key: string,
  isWanted: boolean,
): Capabilities {
  const { [key]: _, ...others } = fieldsOf(capabilities[part.name]);
  return { [part.name]: isWanted ? { ...others, [key]: part.full[key] } : others };
}

/** The update that adds or removes a name under `experimental` or `extensions`. */
export function withNamed(
  capabilities: Capabilities,
  kind: "experimental" | "extensions",
  name: string,
  value: unknown,
): Capabilities {
  const { [name]: _, ...others } = fieldsOf(capabilities[kind]);
  const kept = value === undefined ? others : { ...others, [name]: value };
  // These extensions are declared by default, unless set to null.
  const none = Object.fromEntries(Object.keys(DEFAULT_EXTENSIONS).map((one) => [one, null]));
  if (kind === "extensions") return { extensions: { ...none, ...kept } };
  return { experimental: Object.keys(kept).length ? kept : null };
}

// Revision that introduced a capability or feature, if not the first.
const SINCE = new Map([
  ["elicitation", "2025-06-18"],
  ["elicitation.form", "2025-11-25"],
  ["elicitation.url", "2025-11-25"],
  ["sampling.tools", "2025-11-25"],
  ["sampling.context", "2025-11-25"],
  ["tasks", "2025-11-25"],
  ["extensions", STATELESS],
]);
const LEFT_OUT = new Set(["roots.listChanged", "tasks"]);

/** Whether the current revision dropped it, so that it is not sent. */
export const isLeftOut = (server: ServerView, name: string): boolean =>
  isStateless(server) && LEFT_OUT.has(name);

/** Whether this connection declared it: a capability, or a feature of one. */
function wasDeclared({ declared_capabilities: told }: ServerView, name: string): boolean {
  const [part = "", key] = name.split(".");
  if (told === null || !isOn(told, part)) return false;
  return key === undefined || hasFeature(told, part, key);
}

/** Note that the current revision does not have it, and whether it was sent; null otherwise. */
export function revisionNote(server: ServerView, name: string): string | null {
  const { protocol_version: revision } = server;
  if (revision === null) return null;
  if (isLeftOut(server, name)) return `Not in ${revision}, so it is not sent`;
  if ((SINCE.get(name) ?? "") <= revision) return null;
  return wasDeclared(server, name)
    ? `Not in ${revision}, but sent all the same`
    : `Not in ${revision}`;
}

/** Whether the server may ask for roots, by the capabilities of this connection. */
export const mayAskForRoots = ({ declared_capabilities: told }: ServerView): boolean =>
  told !== null && isOn(told, "roots");

/** Text about how the server learns about roots. */
export function rootsText(server: ServerView): string {
  if (server.state !== "CONNECTED") return "It can ask for them when it is connected.";
  if (!mayAskForRoots(server))
    return "It cannot ask for them: Roots were switched off under Info when it was connected.";
  if (isStateless(server))
    return `It sees them when it asks; ${server.protocol_version} has no notification of changes.`;
  return hasFeature(fieldsOf(server.declared_capabilities), "roots", "listChanged")
    ? "It is notified when they change."
    : "It sees them when it asks; notifications of changes are switched off under Info.";
}
