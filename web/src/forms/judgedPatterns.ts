// A copy of a schema in which no pattern is left for the validator to run: patterns become formats
// with a function that looks up the backend's verdict, patterns of names become those names.
import { format } from "@cfworker/json-schema";
import { type Verdict, verdictOf } from "./patternVerdicts";
import { isSchema, type Schema } from "./schema";

// Not a format of JSON Schema, unknown to the backend, and exponential: "http://aaaa…".
delete format.url;

const MARK = "mcplens-pattern-";
// More names than this are validated when they are sent.
const MOST_NAMES = 300;
// Their values are not schemas.
const VALUES = new Set(["const", "enum", "default"]);
const MAPS = new Set(["properties", "$defs", "definitions", "dependentSchemas", "dependencies"]);

/** How the validator takes a pattern that could not be checked. */
type Unchecked = "matches" | "differs";

export interface Judgement<T> {
  result: T;
  /** The pattern of a value could not be checked. */
  hasUnchecked: boolean;
  /** Verdicts on names of properties are not known yet. */
  pendingNames: boolean;
  /** Why the pattern of a name could not be checked. */
  uncheckedNames: Verdict | null;
}

function namesIn(value: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const one of value) namesIn(one, found);
  else if (isSchema(value))
    for (const [name, inner] of Object.entries(value)) namesIn(inner, found.add(name));
  return found;
}

const literal = (text: string): string => text.replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");

class Judge {
  readonly patterns: string[] = [];
  hasUnchecked = false;
  pendingNames = false;
  uncheckedNames: Verdict | null = null;
  private names: string[] | null = null;

  constructor(
    private readonly value: unknown,
    private readonly unchecked: Unchecked,
  ) {}

  judged(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((one) => this.judged(one));
    if (!isSchema(schema)) return schema;
    const { pattern, ...others } = schema;
    const isPattern = typeof pattern === "string";
    const entries = Object.entries(isPattern ? others : schema);
    const next = Object.fromEntries(entries.map(([key, inner]) => [key, this.inside(key, inner)]));
    return isPattern ? this.withFormat(next, pattern) : next;
  }

  private inside(key: string, inner: unknown): unknown {
    if (VALUES.has(key)) return inner;
    if (key === "patternProperties" && isSchema(inner)) return this.named(inner);
    return MAPS.has(key) && isSchema(inner) ? this.mapped(inner) : this.judged(inner);
  }

  private mapped(schemas: Schema): Schema {
    const entries = Object.entries(schemas);
    return Object.fromEntries(entries.map(([name, one]) => [name, this.judged(one)]));
  }

  private withFormat(schema: Schema, pattern: string): Schema {
    const name = `${MARK}${this.patterns.push(pattern) - 1}`;
    format[name] = (text: string) => {
      const verdict = verdictOf(pattern, text);
      if (verdict === undefined || verdict === "matches") return true;
      if (verdict === "differs") return false;
      this.hasUnchecked = true;
      return this.unchecked === "matches";
    };
    if (schema.format === undefined) return { ...schema, format: name };
    const all: unknown[] = Array.isArray(schema.allOf) ? schema.allOf : [];
    return { ...schema, allOf: [...all, { format: name }] };
  }

  private named(schemas: Schema): Schema {
    this.names ??= [...namesIn(this.value)];
    if (this.names.length > MOST_NAMES) this.pendingNames = true;
    const names = this.pendingNames ? [] : this.names;
    const entries = Object.entries(schemas).map(([pattern, one], index) => {
      const alike = names.filter((name) => this.isNamed(pattern, name)).map(literal);
      // Patterns that match the same names must not become one key.
      return [`^(?:${alike.join("|") || "(?!)"})$${"(?:)".repeat(index)}`, this.judged(one)];
    });
    return Object.fromEntries(entries) as Schema;
  }

  private isNamed(pattern: string, name: string): boolean {
    const verdict = verdictOf(pattern, name);
    if (verdict === undefined) this.pendingNames = true;
    else if (verdict !== "matches" && verdict !== "differs") this.uncheckedNames = verdict;
    return verdict === "matches";
  }
}

/** Runs a validation with a schema whose patterns are judged by the backend's verdicts. */
export function withJudgedPatterns<T>(
  schema: unknown,
  value: unknown,
  unchecked: Unchecked,
  work: (schema: unknown, patternOf: (format: string) => string | undefined) => T,
): Judgement<T> {
  const judge = new Judge(value, unchecked);
  const markOf = new RegExp(`"${MARK}(\\d+)"`);
  try {
    const judged = judge.judged(schema);
    const result = work(judged, (text) => judge.patterns[Number(markOf.exec(text)?.[1] ?? -1)]);
    const { hasUnchecked, pendingNames, uncheckedNames } = judge;
    return { result, hasUnchecked, pendingNames, uncheckedNames };
  } finally {
    for (const index of judge.patterns.keys()) delete format[`${MARK}${index}`];
  }
}
