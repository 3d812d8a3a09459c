// A JSON editor. CodeMirror is loaded with the first editor; until then a plain textarea is shown.
import { useLayoutEffect, useRef, useState } from "react";
import css from "./CodeEditor.module.css";
import type { Editor } from "./codeMirror";
import { lazyModule, useModule } from "./lazyModule";

const codeMirror = lazyModule(() => import("./codeMirror"));

interface Props {
  label: string;
  value: string;
  onChange?(text: string): void;
  height?: number | string;
  hint?: string;
}

export function CodeEditor({ label, value, onChange, height = 200, hint = "" }: Props) {
  const parent = useRef<HTMLDivElement>(null);
  const plain = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<Editor | null>(null);
  const [isMade, setMade] = useState(false);
  const latest = useRef({ value, onChange });
  latest.current = { value, onChange };
  const module = useModule(codeMirror);
  const isReadOnly = !onChange;

  useLayoutEffect(() => {
    if (!module || !parent.current) return;
    // Keep the caret if the user is already typing.
    const typing = plain.current === document.activeElement ? plain.current : null;
    const made = module.makeEditor({
      parent: parent.current,
      text: latest.current.value,
      selection: { anchor: typing?.selectionStart ?? 0, head: typing?.selectionEnd ?? 0 },
      label,
      isReadOnly,
      hint,
      onChange: (text) => latest.current.onChange?.(text),
    });
    editor.current = made;
    if (typing) made.focus();
    setMade(true);
    return () => {
      editor.current = null;
      made.destroy();
    };
  }, [module, label, isReadOnly, hint]);
  // In a layout effect: a key pressed before a later effect would be lost.
  useLayoutEffect(() => {
    const view = editor.current;
    if (!view || view.state.doc.toString() === value) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
  }, [value]);

  return (
    <div ref={parent} className={css.editor} style={{ height }}>
      {!isMade && (
        <textarea
          ref={plain}
          className={css.plain}
          aria-label={label}
          value={value}
          readOnly={isReadOnly}
          onChange={(event) => onChange?.(event.currentTarget.value)}
        />
      )}
    </div>
  );
}
