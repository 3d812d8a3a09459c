import { Button } from "@mantine/core";
import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { ButtonWithReason } from "../components/ButtonWithReason";
import type { Example } from "../forms/useExample";
import css from "./FormFooter.module.css";

/**
 * Fixes the height of the form above an element while a mouse is over the element, and after it was
 * touched or Ctrl Enter was pressed, until the next touch or input elsewhere.
 */
function useHeldForm(foot: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = foot.current;
    const form = element?.previousElementSibling;
    if (!element || !(form instanceof HTMLElement)) return;
    const hold = (): void => {
      form.style.height = `${form.getBoundingClientRect().height}px`;
    };
    const release = (): void => {
      form.style.height = "";
    };
    const leave = ({ pointerType }: PointerEvent): void => {
      if (pointerType === "mouse") release();
    };
    const touch = ({ target }: Event): void => {
      if (target instanceof Node && !element.contains(target)) release();
    };
    const press = ({ key, ctrlKey, metaKey }: KeyboardEvent): void => {
      if (key === "Enter" && (ctrlKey || metaKey)) hold();
    };
    element.addEventListener("pointerenter", hold);
    element.addEventListener("pointerleave", leave);
    document.addEventListener("pointerdown", touch);
    document.addEventListener("input", touch);
    // Before the form is checked.
    document.addEventListener("keydown", press, true);
    return () => {
      element.removeEventListener("pointerenter", hold);
      element.removeEventListener("pointerleave", leave);
      document.removeEventListener("pointerdown", touch);
      document.removeEventListener("input", touch);
      document.removeEventListener("keydown", press, true);
    };
  }, [foot]);
}

/** Whether Enter does nothing in this field by itself. */
const isPlainField = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement &&
  !target.readOnly &&
  !["checkbox", "radio", "button", "file", "range", "color"].includes(target.type);

/** Enter in a field of one line leads to the primary button, where it is pressed by the next one. */
function useEnterLeadsOn(foot: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, target, ctrlKey, metaKey, altKey, shiftKey } = event;
      if (key !== "Enter" || ctrlKey || metaKey || altKey || shiftKey) return;
      // What a list of suggestions has taken, or an input method.
      if (event.defaultPrevented || event.isComposing || !isPlainField(target)) return;
      const form = foot.current?.previousElementSibling;
      if (!(target instanceof Node) || !form?.contains(target)) return;
      event.preventDefault();
      foot.current?.querySelector<HTMLElement>("[data-run]")?.focus();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [foot]);
}

/**
 * The buttons of a form, below its last field and always in view; the primary one is first. An
 * error that appears in the form does not move them.
 */
export function FormFooter({ children }: { children: ReactNode }) {
  const foot = useRef<HTMLDivElement>(null);
  useHeldForm(foot);
  useEnterLeadsOn(foot);
  return (
    <div className={css.foot} ref={foot}>
      {children}
    </div>
  );
}

/** Fills the form, or takes that back; only its first word is left where there is no room. */
export const ExampleButton = ({ example }: { example: Example }) => (
  <Button variant="subtle" color="gray" px="xs" onClick={example.put}>
    <span>
      {example.isPut ? "Undo" : "Fill"}
      <span className={css.rest}>{example.isPut ? " the example" : " with an example"}</span>
    </span>
  </Button>
);

/** What is wrong with the form, in a few words beside its buttons. */
export const Refusal = ({ children }: { children: string }) => (
  <span className={`bad cut small ${css.refusal}`} role="status">
    {children}
  </span>
);

/** Away from the button that was pressed: the arguments break the schema. */
export const SendAnyway = ({ disabled, onClick }: { disabled: boolean; onClick(): void }) => (
  <ButtonWithReason
    variant="default"
    className={css.last ?? ""}
    disabledReason={disabled ? "The server is not connected" : null}
    onClick={onClick}
  >
    Send anyway
  </ButtonWithReason>
);

/** The keys that press the primary button, said on it. */
export const RunKeys = () => (
  <span className={css.keys} aria-hidden="true">
    Ctrl ↵
  </span>
);
