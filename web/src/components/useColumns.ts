// How many characters of the monospace font fit into a box, updated on resize.
import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { columnsIn, MAX_COLUMNS } from "../values/textRows";

// Space for the marker of continued lines.
const GUTTER_PX = 16;

function characterPx(element: HTMLElement): number {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return 0;
  const { fontSize, fontFamily } = getComputedStyle(element);
  context.font = `${fontSize} ${fontFamily}`;
  return context.measureText("0").width;
}

interface Columns {
  box: RefObject<HTMLDivElement | null>;
  /** Null until the box has been measured. */
  columns: number | null;
}

export function useColumns(isWrapped: boolean): Columns {
  const box = useRef<HTMLDivElement>(null);
  const [columns, setColumns] = useState<number | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () =>
      setColumns(columnsIn(element.clientWidth - GUTTER_PX, characterPx(element)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { box, columns: isWrapped ? columns : MAX_COLUMNS };
}
