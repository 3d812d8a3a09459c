// Parses tools, resources, templates and prompts. Servers may send anything: fields of the right
// type are kept, others are reported.
import type { ItemView, ListKind } from "../api/types";
import { fieldsOf, isObject, type JsonObject } from "../values/jsonObject";

export interface Tool {
  name?: string;
  title?: string;
  description?: string;
  inputSchema?: unknown;
  outputSchema?: unknown;
  annotations?: {
    title?: string;
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
  };
  execution?: { taskSupport?: string };
}

export interface Resource {
  uri?: string;
  uriTemplate?: string;
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: Record<string, unknown>;
}

interface PromptArgument {
  name: string;
  title?: string;
  description?: string;
  required: boolean;
}

export interface Prompt {
  name?: string;
  title?: string;
  description?: string;
  arguments: PromptArgument[];
}

export interface Item<T> {
  /** Unique key: its name or URI, or its position if it has none. */
  key: string;
  value: T;
  /** As the server sent it. */
  listed: unknown;
  problem: string | null;
  /** Text for searching. */
  text: string;
}

/** Reads fields of the right type and collects the others as errors. */
class Reader {
  readonly fields: JsonObject;

  constructor(
    value: unknown,
    readonly wrong: string[] = [],
    private readonly within = "",
  ) {
    this.fields = fieldsOf(value);
  }

  private take<T>(name: string, is: (value: unknown) => value is T, what: string): T | undefined {
    const value = this.fields[name];
    if (value === undefined || value === null) return undefined;
    if (is(value)) return value;
    this.wrong.push(`${this.within}${name} is not ${what}`);
    return undefined;
  }

  text(name: string): string | undefined {
    return this.take(name, (value) => typeof value === "string", "a string");
  }

  number(name: string): number | undefined {
    return this.take(name, (value) => typeof value === "number", "a number");
  }

  flag(name: string): boolean | undefined {
    return this.take(name, (value) => typeof value === "boolean", "true or false");
  }

  object(name: string): JsonObject | undefined {
    return this.take(name, isObject, "an object");
  }

  list(name: string): unknown[] {
    return this.take(name, (value) => Array.isArray(value), "a list") ?? [];
  }

  inside(name: string): Reader {
    return new Reader(this.object(name), this.wrong, `${this.within}${name}.`);
  }

  named(): { name?: string; title?: string; description?: string } {
    return {
      name: this.text("name"),
      title: this.text("title"),
      description: this.text("description"),
    };
  }
}

function toolOf(read: Reader): Tool {
  const annotations = read.inside("annotations");
  return {
    ...read.named(),
    inputSchema: read.object("inputSchema"),
    outputSchema: read.object("outputSchema"),
    annotations: {
      title: annotations.text("title"),
      readOnlyHint: annotations.flag("readOnlyHint"),
      destructiveHint: annotations.flag("destructiveHint"),
      idempotentHint: annotations.flag("idempotentHint"),
      openWorldHint: annotations.flag("openWorldHint"),
    },
    execution: { taskSupport: read.inside("execution").text("taskSupport") },
  };
}

const resourceOf = (read: Reader): Resource => ({
  ...read.named(),
  uri: read.text("uri"),
  uriTemplate: read.text("uriTemplate"),
  mimeType: read.text("mimeType"),
  size: read.number("size"),
  annotations: read.object("annotations"),
});

function promptOf(read: Reader): Prompt {
  const found: PromptArgument[] = [];
  read.list("arguments").forEach((value, index) => {
    const argument = new Reader(value, read.wrong, `arguments[${index}].`);
    const { name, title, description } = argument.named();
    const required = argument.flag("required") ?? false;
    if (name) found.push({ name, title, description, required });
    else read.wrong.push(`arguments[${index}] has no name`);
  });
  return { ...read.named(), arguments: found };
}

/** One item of a list, whatever the server sent. */
export function itemOf(kind: ListKind, view: ItemView, index: number): Item<unknown> {
  const read = new Reader(view.value);
  const value: Tool & Resource =
    kind === "tools" ? toolOf(read) : kind === "prompts" ? promptOf(read) : resourceOf(read);
  const key =
    kind === "tools" || kind === "prompts" ? value.name : (value.uri ?? value.uriTemplate);
  const texts = [key, value.name, value.title, value.annotations?.title, value.description];
  return {
    key: key || `#${index + 1}`,
    value,
    listed: view.value,
    problem: view.problem ?? (read.wrong.length ? `${read.wrong.join("; ")}.` : null),
    text: texts.filter(Boolean).join(" ").toLowerCase(),
  };
}

const THINGS: Record<ListKind, string> = {
  tools: "tool has this name",
  prompts: "prompt has this name",
  resources: "resource has this URI",
  resource_templates: "template has this URI template",
};

/**
 * Appends items to a list with unique keys: duplicates get a numbered key, and all of them a
 * problem.
 */
export function withUniqueKeys(
  kind: ListKind,
  before: Item<unknown>[],
  items: Item<unknown>[],
): Item<unknown>[] {
  const told = `another ${THINGS[kind]}.`;
  const doubted = <T>(item: Item<T>): Item<T> =>
    item.problem?.endsWith(told)
      ? item
      : { ...item, problem: [item.problem, told].filter(Boolean).join(" ") };
  const all = [...before];
  const places = new Map(all.map((item, place) => [item.key, place]));
  const counts = new Map<string, number>();
  for (const item of items) {
    let key = item.key;
    while (places.has(key)) {
      const count = (counts.get(item.key) ?? 1) + 1;
      counts.set(item.key, count);
      key = `${item.key} #${count}`;
    }
    places.set(key, all.length);
    const first = all[places.get(item.key) ?? -1];
    if (first) all[places.get(item.key) ?? 0] = doubted(first);
    all.push(first ? { ...doubted(item), key } : item);
  }
  return all;
}

/** Display name of an item. */
export function itemTitle(value: Tool | Resource | Prompt, key = ""): string {
  const annotated = "annotations" in value ? value.annotations?.title : undefined;
  const title = value.title || (typeof annotated === "string" && annotated) || value.name;
  return title || (key && !key.startsWith("#") ? key : `(no name) ${key}`.trim());
}

/** The items whose text contains all the words. */
export function matchingItems<T>(items: Item<T>[], text: string): Item<T>[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return items;
  return items.filter((item) => words.every((word) => item.text.includes(word)));
}

/** The resource of the app that a tool's definition names; null if it has none. */
export function appUriOf(listed: unknown): string | null {
  const meta = fieldsOf(fieldsOf(listed)._meta);
  const uri = fieldsOf(meta.ui).resourceUri ?? meta["ui/resourceUri"];
  return typeof uri === "string" ? uri : null;
}
