import { act, cleanup, render, screen } from "@testing-library/react";
import { useLayoutEffect, useRef, useState } from "react";
import { expect, it, vi } from "vitest";
import { CodeEditor } from "./CodeEditor";
import * as codeEditor from "./codeMirror";

it("leaves the caret where it is when the editor takes the place of the plain field", async () => {
  const made = vi.spyOn(codeEditor, "makeEditor");
  render(<CodeEditor label="First" value="typed" onChange={() => {}} />);
  const plain = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "First" });
  expect(plain.tagName).toBe("TEXTAREA");
  plain.focus();
  plain.setSelectionRange(2, 4);
  await vi.waitFor(() => expect(plain.isConnected).toBe(false));
  const view = made.mock.results[0]?.value as codeEditor.Editor;
  expect(document.activeElement).toBe(view.contentDOM);
  expect(view.state.selection.main).toMatchObject({ from: 2, to: 4 });
  made.mockRestore();
  cleanup();
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
