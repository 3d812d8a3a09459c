// The first of many parts, and more of them when asked for: thousands at once would take the page
// minutes to draw.
import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { pluralize } from "../values/format";

const STEP = 100;

interface Props<T> {
  items: readonly T[];
  draw(item: T, index: number): ReactNode;
  /** What one of them is called. */
  one?: string;
  /** What holds the button where not any element may stand, as in a table. */
  around?(more: ReactNode): ReactNode;
}

export function Some<T>({ items, draw, one = "part", around = (more) => more }: Props<T>) {
  const [shown, setShown] = useState(STEP);
  const left = items.length - shown;
  return (
    <>
      {items.slice(0, shown).map(draw)}
      {left > 0 &&
        around(
          <div className="row wrap">
            <span className="dim">{pluralize(left, `more ${one}`)}</span>
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => setShown(shown + STEP)}
            >{`Show ${Math.min(STEP, left)} more`}</Button>
          </div>,
        )}
    </>
  );
}
