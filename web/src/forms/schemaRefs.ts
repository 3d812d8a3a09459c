// Local references (`#/...`) of a schema.
import { isSchema } from "./schema";

// Larger conditions are left to the validator.
const MOST_NODES = 500;

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What a local reference points at. */
export function resolveRef(root: unknown, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const name = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name))
      return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/** A schema with inlined references; undefined if they are recursive or unresolved. */
export function inlineRefs(root: unknown, schema: unknown): unknown {
  let nodes = 0;
  const write = (given: unknown, refs: readonly string[]): unknown => {
    nodes += 1;
    if (nodes > MOST_NODES) throw new RangeError("too large");
    if (Array.isArray(given)) return given.map((one) => write(one, refs));
    if (!isSchema(given)) return given;
    if (typeof given.$ref === "string") {
      const target = resolveRef(root, given.$ref);
      if (refs.includes(given.$ref) || !isSchema(target)) throw new RangeError("no end");
      const { $ref: ref, ...beside } = given;
      return write({ ...target, ...beside }, [...refs, given.$ref]);
    }
    return Object.fromEntries(
      Object.entries(given).map(([key, value]) => [key, write(value, refs)]),
    );
  };
  try {
    return write(schema, []);
  } catch {
    return undefined;
  }
}
