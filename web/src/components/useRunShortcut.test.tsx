import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { useRunShortcut } from "./useRunShortcut";

function Screen({ run }: { run(): void }) {
  useRunShortcut(run);
  return (
    <>
      <input aria-label="field" />
      <div
        role="textbox"
        tabIndex={0}
        aria-label="editor"
        contentEditable
        suppressContentEditableWarning
      />
      <div role="dialog" aria-modal="true">
        <input aria-label="in a dialog" />
      </div>
      {/* As a question does, which sends its own answer. */}
      <input aria-label="stopped" onKeyDown={(event) => event.stopPropagation()} />
      <input aria-label="handled" onKeyDown={(event) => event.preventDefault()} />
    </>
  );
}

describe("Ctrl-Enter", () => {
  it("runs from fields and editors, but not from where it has another meaning", () => {
    const run = vi.fn();
    render(<Screen run={run} />);
    const press = (target: HTMLElement): number => {
      run.mockClear();
      fireEvent.keyDown(target, { key: "Enter", ctrlKey: true });
      return run.mock.calls.length;
    };
    expect(press(screen.getByLabelText("field"))).toBe(1);
    expect(press(screen.getByLabelText("editor"))).toBe(1);
    expect(press(screen.getByLabelText("in a dialog"))).toBe(0);
    expect(press(screen.getByLabelText("stopped"))).toBe(0);
    expect(press(screen.getByLabelText("handled"))).toBe(0);
  });
});
