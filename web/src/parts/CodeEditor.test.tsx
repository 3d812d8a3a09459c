import { act, fireEvent, render, screen } from "@testing-library/react";
import { useLayoutEffect, useRef, useState } from "react";
import { expect, it, vi } from "vitest";
import { CodeEditor } from "./CodeEditor";
import * as codeEditor from "./codeEditor";

it("keeps the focus and the place in the text when the editor comes", async () => {
  function Page() {
    const [text, setText] = useState("");
    return <CodeEditor label="It" value={text} onChange={setText} />;
  }
  render(<Page />);
  const plain = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "It" });
  expect(plain.tagName).toBe("TEXTAREA");
  plain.focus();
  fireEvent.change(plain, { target: { value: "[1, 2]" } });
  plain.setSelectionRange(1, 2);
  const made = vi.spyOn(codeEditor, "makeEditor");
  await vi.waitFor(() => expect(made).toHaveBeenCalled());
  const view = made.mock.results[0]?.value as codeEditor.Editor;
  await vi.waitFor(() => expect(screen.getAllByRole("textbox", { name: "It" })).toHaveLength(1));
  expect(document.activeElement).toBe(view.contentDOM);
  expect(view.state.doc.toString()).toBe("[1, 2]");
  const { from, to } = view.state.selection.main;
  expect([from, to]).toEqual([1, 2]);
  made.mockRestore();
});

it("takes back no key that comes between the drawing of the last one and its effects", async () => {
  const made = vi.spyOn(codeEditor, "makeEditor");
  const type = (key: string): void => {
    const view = made.mock.results[0]?.value as codeEditor.Editor;
    view.dispatch({ changes: { from: view.state.doc.length, insert: key } });
  };
  let shown = "";
  function Page() {
    const [text, setText] = useState("");
    const isTyped = useRef(false);
    shown = text;
    useLayoutEffect(() => {
      if (text !== "a" || isTyped.current) return;
      isTyped.current = true;
      type("b");
    }, [text]);
    return <CodeEditor label="It" value={text} onChange={setText} />;
  }
  render(<Page />);
  const editor = await screen.findByRole("textbox", { name: "It" });
  await vi.waitFor(() => expect(made).toHaveBeenCalled());
  act(() => type("a"));
  expect(shown).toBe("ab");
  expect(made.mock.results[0]?.value.state.doc.toString()).toBe("ab");
  expect(editor).toBeTruthy();
});
