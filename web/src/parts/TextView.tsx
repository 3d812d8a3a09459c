// Text of any size: drawn line by line when it is long, cut into pieces where a line is endless.
import { useMemo } from "react";
import css from "./TextView.module.css";
import { useWindow } from "./useWindow";

const ROW_PX = 18;
// Up to here the browser lays text out by itself without a pause.
const SMALL = 100_000;
const WIDEST = 4000;

export function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    if (line.length <= WIDEST) lines.push(line);
    else for (let at = 0; at < line.length; at += WIDEST) lines.push(line.slice(at, at + WIDEST));
  }
  return lines;
}

interface Props {
  text: string;
  label: string;
  most?: number;
}

function Windowed({ text, label, most = 480 }: Props) {
  const lines = useMemo(() => linesOf(text), [text]);
  const window = useWindow(lines.length, ROW_PX, false);
  return (
    <div
      ref={window.scroller}
      className={css.long}
      style={{ height: Math.min(most, window.height + 16) }}
      onScroll={window.onScroll}
      role="region"
      aria-label={label}
      tabIndex={0}
    >
      <div style={{ height: window.height }}>
        <div style={{ transform: `translateY(${window.first * ROW_PX}px)` }}>
          {lines.slice(window.first, window.last).map((line, index) => (
            <div key={window.first + index} className={css.line}>
              {line}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

export function TextView(props: Props) {
  if (props.text.length > SMALL) return <Windowed {...props} />;
  return (
    <section
      className={css.text}
      style={{ maxHeight: props.most }}
      aria-label={props.label}
      tabIndex={0}
    >
      {props.text}
    </section>
  );
}
