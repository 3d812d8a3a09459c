// Two panes with a draggable handle; the size is saved. In narrow windows they are stacked, or only
// one is shown.
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef } from "react";
import { usePreference } from "../state/browserStorage";
import css from "./SplitPane.module.css";

interface Props {
  name: string;
  label: string;
  initial: number;
  least?: number;
  most?: number;
  /** Which pane has the saved size. */
  sized?: "first" | "second";
  isVertical?: boolean;
  first: ReactNode;
  /** Null: the first pane has all the space, and is not remounted when the second appears. */
  second: ReactNode | null;
  /** Which panes are shown in narrow windows. */
  narrow?: "first" | "second" | "both" | "flowing";
  /** Both panes hold whole screens, which need more space than a form and its result. */
  isRoomy?: boolean;
}

const STEP = 24;

/** Width of the list on the left of a screen, until it is dragged: the same on each. */
export const LIST_WIDTH = { initial: 320, least: 200, most: 640 };

/** Width of a form beside its result, until it is dragged: the same on each screen. */
export const FORM_WIDTH = { initial: 460, least: 280 };

export function SplitPane(props: Props) {
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
  const narrow = props.second === null ? "both" : (props.narrow ?? "both");
  const isEarly = props.isRoomy || narrow === "first" || narrow === "second";
  const stacks = isVertical ? undefined : isEarly ? "early" : "late";
  const clamp = (value: number): number => Math.round(Math.min(most, Math.max(least, value)));
  const sign = sized === "first" ? 1 : -1;
  const at = (event: PointerEvent): number => (isVertical ? event.clientY : event.clientX);
  /** The rendered size, which may be smaller than the saved one. */
  const drawn = (handle: Element): number => {
    const pane = sized === "first" ? handle.previousElementSibling : handle.nextElementSibling;
    const { width, height } = pane?.getBoundingClientRect() ?? { width: size, height: size };
    return Math.round(isVertical ? height : width);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -STEP, ArrowUp: -STEP, ArrowRight: STEP, ArrowDown: STEP }[event.key];
    if (!step) return;
    event.preventDefault();
    setSize(clamp(drawn(event.currentTarget) + sign * step));
  };
  const basis = { flexBasis: `${size}px` };
  const isAlone = props.second === null;
  return (
    <div className={css.place}>
      <div
        className={`${css.split} ${isVertical ? css.vertical : ""}`}
        data-narrow={narrow}
        data-stacks={stacks}
      >
        <div
          className={`${css.pane} ${sized === "first" && !isAlone ? css.sized : css.rest}`}
          style={sized === "first" && !isAlone ? basis : undefined}
        >
          {props.first}
        </div>
        {!isAlone && (
          <>
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
                start.current = { at: at(event), size: drawn(event.currentTarget) };
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
          </>
        )}
      </div>
    </div>
  );
}
