// What the server says of a value, and in a dim line what its schema says.
import type { ReactNode } from "react";
import { visible } from "../values/hiddenCharacters";
import css from "./SchemaForm.module.css";
import type { Schema } from "./schema";
import { storedSummary } from "./schemaSummary";

/** Undefined if there is nothing to say, since an empty line would take room. */
export function describeField(schema: object, more = ""): ReactNode {
  const { description } = schema as { description?: unknown };
  const said = [description, more].filter((line) => typeof line === "string" && line).join("\n");
  const facts = storedSummary(schema as Schema);
  if (!said && !facts) return undefined;
  return (
    <>
      {visible(said)}
      {facts && <span className={css.facts}>{visible(facts)}</span>}
    </>
  );
}
