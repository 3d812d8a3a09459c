// CodeMirror with the extensions that we use. Loaded when the first editor is shown.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import {
  bracketMatching,
  foldGutter,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { nonce } from "../nonce";

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--json-key)" },
  { tag: tags.string, color: "var(--json-string)" },
  { tag: tags.number, color: "var(--json-number)" },
  { tag: [tags.bool, tags.null], color: "var(--json-word)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "12px", backgroundColor: "var(--surface)", height: "100%" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)", padding: "6px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--surface-2)", color: "var(--ink-3)", border: "none" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
    { backgroundColor: "var(--chosen)" },
  ".cm-placeholder": { color: "var(--ink-3)" },
  ".cm-panels": { backgroundColor: "var(--surface-2)", color: "var(--ink)" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
  },
  "&.cm-focused": { outline: "none" },
});

interface EditorOptions {
  parent: HTMLElement;
  text: string;
  selection: { anchor: number; head: number };
  label: string;
  isReadOnly: boolean;
  hint: string;
  onChange(text: string): void;
}

export type Editor = EditorView;

export function makeEditor(options: EditorOptions): EditorView {
  const { parent, text, selection, label, isReadOnly, hint, onChange } = options;
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      selection,
      extensions: [
        EditorView.cspNonce.of(nonce),
        lineNumbers(),
        foldGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightSelectionMatches(),
        json(),
        syntaxHighlighting(colours),
        look,
        EditorView.lineWrapping,
        // Ctrl-Enter runs the call; the default would insert a line.
        keymap.of([
          ...defaultKeymap.filter((one) => one.key !== "Mod-Enter"),
          ...historyKeymap,
          // Tab leaves the editor, like any field; Ctrl-] and Ctrl-[ indent.
          ...searchKeymap,
        ]),
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        placeholder(hint),
        ...(isReadOnly
          ? []
          : [linter((view) => (view.state.doc.length ? jsonParseLinter()(view) : []))]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
}
