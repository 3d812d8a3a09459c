// Panes side by side with a handle between them that mouse and keyboard move; the size is kept.
// On narrow screens they stand one above the other, or only one is shown.
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef } from "react";
import { usePreference } from "../state/remembered";
import css from "./Split.module.css";

interface Props {
  name: string;
  label: string;
  initial: number;
  least?: number;
  most?: number;
  /** Which pane has the kept size. */
  sized?: "first" | "second";
  isVertical?: boolean;
  first: ReactNode;
  /** Null: the first pane has all the room, and stays as it is when the second comes. */
  second: ReactNode | null;
  /** On narrow screens only this one is shown. */
  narrow?: "first" | "second" | "both" | "mostly first";
}

const STEP = 24;

export function Split(props: Props) {
  const {
    name,
    label,
    initial,
    least = 180,
    most = 1200,
    sized = "first",
    isVertical = false,
  } = props;
  const [size, setSize] = usePreference(`split.${name}`, initial);
  const start = useRef<{ at: number; size: number } | null>(null);
  const clamp = (value: number): number => Math.round(Math.min(most, Math.max(least, value)));
  const sign = sized === "first" ? 1 : -1;
  const at = (event: PointerEvent): number => (isVertical ? event.clientY : event.clientX);

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -STEP, ArrowUp: -STEP, ArrowRight: STEP, ArrowDown: STEP }[event.key];
    if (!step) return;
    event.preventDefault();
    setSize(clamp(size + sign * step));
  };
  const basis = { flexBasis: `${size}px` };
  if (props.second === null)
    return (
      <div className={`${css.split} ${isVertical ? css.vertical : ""}`} data-narrow="both">
        <div className={`${css.pane} ${css.rest}`}>{props.first}</div>
      </div>
    );
  return (
    <div
      className={`${css.split} ${isVertical ? css.vertical : ""}`}
      data-narrow={props.narrow ?? "both"}
    >
      <div
        className={`${css.pane} ${sized === "first" ? css.sized : css.rest}`}
        style={sized === "first" ? basis : undefined}
      >
        {props.first}
      </div>
      <div
        className={css.handle}
        role="separator"
        aria-label={label}
        aria-orientation={isVertical ? "horizontal" : "vertical"}
        aria-valuenow={size}
        aria-valuemin={least}
        aria-valuemax={most}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          start.current = { at: at(event), size };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (start.current)
            setSize(clamp(start.current.size + sign * (at(event) - start.current.at)));
        }}
        onPointerUp={() => {
          start.current = null;
        }}
      />
      <div
        className={`${css.pane} ${sized === "second" ? css.sized : css.rest}`}
        style={sized === "second" ? basis : undefined}
      >
        {props.second}
      </div>
    </div>
  );
}
