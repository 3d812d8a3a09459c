// The first of many parts of a result, and more of them when asked for: thousands at once would
// take the page minutes to draw.
import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { counted } from "../values/format";

const STEP = 100;

interface Props {
  items: unknown[];
  draw(item: unknown, index: number): ReactNode;
}

export function Some({ items, draw }: Props) {
  const [shown, setShown] = useState(STEP);
  const left = items.length - shown;
  return (
    <>
      {items.slice(0, shown).map(draw)}
      {left > 0 && (
        <div className="row wrap">
          <span className="dim">{counted(left, "more part")}</span>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => setShown(shown + STEP)}
          >{`Show ${Math.min(STEP, left)} more`}</Button>
        </div>
      )}
    </>
  );
}
