// Bytes as they are, windowed.

import { useRef } from "react";
import { hexLine, hexLines } from "../values/hex";
import css from "./HexView.module.css";
import { useRowWindow } from "./useRowWindow";
import { useWidth } from "./useWidth";

const ROW_PX = 18;
// Bytes of a line, and the room that the longer one needs: offset, bytes, text and a scroll bar.
const WIDE = 16;
const NARROW = 8;
const WIDE_PX = 550;

export function HexView({ data, most }: { data: Uint8Array; most?: number }) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place) < WIDE_PX ? NARROW : WIDE;
  const count = hexLines(data, width);
  const window = useRowWindow(count, ROW_PX, false);
  const lines = Array.from(
    { length: Math.max(0, window.last - window.first) },
    (_, index) => window.first + index,
  );
  const height = most === undefined ? undefined : Math.min(most, count * ROW_PX + 12);
  return (
    <div
      ref={window.scroller}
      className={css.hex}
      style={{ height }}
      onScroll={window.onScroll}
      role="region"
      aria-label="Bytes in hexadecimal"
      tabIndex={0}
    >
      <div ref={place} style={{ height: window.height }}>
        <div style={{ transform: `translateY(${window.first * ROW_PX}px)` }}>
          {lines.map((line) => {
            const { offset, hex, text } = hexLine(data, line, width);
            return (
              <div key={line} className={css.line}>
                <span className="dim">{offset}</span>
                <span>{hex}</span>
                <span className={css.text}>{text}</span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
