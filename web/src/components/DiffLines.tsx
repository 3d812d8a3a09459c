// The differences of two texts, line by line, with some equal lines around them.

import type { Diff, Hunk } from "../values/diff";
import { pluralize } from "../values/format";
import css from "./DiffLines.module.css";

// Maximum of rendered lines.
const MOST_DRAWN = 2_000;

function drawn(hunks: Hunk[]): Hunk[] {
  let left = MOST_DRAWN;
  return hunks.flatMap(({ skipped, lines }) => {
    if (left <= 0) return [];
    const some = lines.slice(0, left);
    left -= some.length;
    return [{ skipped, lines: some }];
  });
}

interface Props {
  /** What the two texts are called. */
  before: string;
  after: string;
  diff: Diff;
  hunks: Hunk[];
  isCut: boolean;
}

export function DiffLines({ before, after, diff, hunks, isCut }: Props) {
  const count = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  return (
    <div>
      <p className={css.summary} role="status">
        <span>
          <span aria-hidden="true">−</span>
          <span className="sr">Without: </span> {before}
        </span>
        <span>
          <span aria-hidden="true">+</span>
          <span className="sr">With: </span> {after}
        </span>
        <span className="dim">
          {hunks.length
            ? `${pluralize(diff.removed, "line")} removed, ${pluralize(diff.added, "line")} added`
            : isCut
              ? "No difference in what was compared"
              : "No difference"}
        </span>
      </p>
      {hunks.length > 0 && (
        <section className={css.lines} aria-label="Differences">
          {drawn(hunks).map((hunk, index) => (
            <div key={index}>
              {hunk.skipped > 0 && (
                <div className={css.skipped}>{pluralize(hunk.skipped, "equal line")}</div>
              )}
              {hunk.lines.map((line, at) => (
                <div key={at} className={css.line} data-sign={line.sign}>
                  <span className={css.sign}>{line.sign}</span>
                  <span>{line.text}</span>
                </div>
              ))}
            </div>
          ))}
        </section>
      )}
      {count > MOST_DRAWN && (
        <p className="dim">The first {pluralize(MOST_DRAWN, "line")} are shown.</p>
      )}
      {isCut && (
        <p className="dim">Only the beginnings were compared because the texts are too large.</p>
      )}
    </div>
  );
}
