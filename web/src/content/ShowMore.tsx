// The first of many items, with a button that shows more: rendering thousands at once would take
// minutes.
import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { pluralize } from "../values/format";

const STEP = 100;

interface Props<T> {
  items: readonly T[];
  render(item: T, index: number): ReactNode;
  /** Singular noun for an item. */
  noun?: string;
  /** Wraps the button where the parent allows only certain elements, as in a table. */
  wrapButton?(more: ReactNode): ReactNode;
}

export function ShowMore<T>({
  items,
  render,
  noun = "part",
  wrapButton = (more) => more,
}: Props<T>) {
  const [shown, setShown] = useState(STEP);
  const left = items.length - shown;
  return (
    <>
      {items.slice(0, shown).map(render)}
      {left > 0 &&
        wrapButton(
          <div className="row wrap">
            <span className="dim">{pluralize(left, `more ${noun}`)}</span>
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
