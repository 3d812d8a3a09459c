// Description of a field, with a dim line that summarizes its schema. A long one is folded.
import { type ReactNode, useState } from "react";
import { truncate } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import css from "./SchemaForm.module.css";
import type { Schema } from "./schema";
import { storedSummary } from "./schemaSummary";

// About three lines of a form.
const LONGEST = 240;
const MOST_LINES = 4;

const folded = (text: string): string =>
  truncate(text.split("\n").slice(0, MOST_LINES).join("\n"), LONGEST).replace(/\s*…?$/, "…");

function Said({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false);
  const isLong = text.length > LONGEST || text.split("\n").length > MOST_LINES;
  if (!isLong) return text;
  return (
    <>
      {isOpen ? text : folded(text)}{" "}
      <button
        type="button"
        className={`plain ${css.more}`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? "Less" : "More"}
      </button>
    </>
  );
}

/** Undefined if empty, since an empty line would take space. */
export function describeField(schema: object, more = ""): ReactNode {
  const { description } = schema as { description?: unknown };
  const said = [description, more].filter((line) => typeof line === "string" && line).join("\n");
  const known = storedSummary(schema as Schema);
  // One of several kinds is named by its type where it has no name.
  const facts = known === (schema as Schema).title ? "" : known;
  if (!said && !facts) return undefined;
  return (
    <>
      <Said text={visible(said)} />
      {facts && <span className={css.facts}>{visible(facts)}</span>}
    </>
  );
}
