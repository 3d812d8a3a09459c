// Description of a field, with a dim line that summarizes its schema.
import type { ReactNode } from "react";
import { visible } from "../values/hiddenCharacters";
import css from "./SchemaForm.module.css";
import type { Schema } from "./schema";
import { storedSummary } from "./schemaSummary";

/** Undefined if empty, since an empty line would take space. */
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
