// A text in a suitable view: JSON as a tree, Markdown rendered, or highlighted source.
import { ActionIcon, SegmentedControl, Tooltip } from "@mantine/core";
import { useMemo } from "react";
import { usePreference } from "../state/browserStorage";
import { tryParseExactly } from "../values/exactJson";
import { fileName } from "../values/fileName";
import { visible } from "../values/hiddenCharacters";
import { languageOf } from "../values/highlight";
import { copyText } from "./clipboard";
import { downloadFile } from "./download";
import { Icon } from "./Icon";
import { JsonTree } from "./JsonTree";
import { looksLikeMarkdown, Markdown } from "./Markdown";
import css from "./RichText.module.css";
import { TextView } from "./TextView";

type Form = "json" | "markdown" | "text";
const LABELS: Record<Form, string> = { json: "JSON", markdown: "Rendered", text: "Source" };

interface About {
  mime?: string;
  uri?: string;
}

const isMarkdown = ({ mime, uri }: About): boolean =>
  mime
    ? /^text\/(x-)?markdown$/i.test((mime.split(";")[0] ?? "").trim())
    : /\.(md|markdown)$/i.test((uri ?? "").split(/[?#]/, 1)[0] ?? "");

/** The views that a text can be shown in; the first is the default. */
export function viewsOf(text: string, about: About): { forms: Form[]; value?: unknown } {
  const json = /^\s*[[{]/.test(text) ? tryParseExactly(text) : null;
  if (json?.ok) return { forms: ["json", "text"], value: json.value };
  if (isMarkdown(about)) return { forms: ["markdown", "text"] };
  // Markdown is only guessed here, so it is rendered on request.
  const isLikely = !about.mime && !about.uri && looksLikeMarkdown(text);
  return { forms: isLikely ? ["text", "markdown"] : ["text"] };
}

const ENDINGS: Record<Form, string> = { json: "json", markdown: "md", text: "txt" };

export function RichText({ text, label, mime, uri }: { text: string; label: string } & About) {
  const { forms, value } = useMemo(() => viewsOf(text, { mime, uri }), [text, mime, uri]);
  // Whoever wants the source of one Markdown text wants that of the next one too.
  const [wanted, setWanted] = usePreference<Form | null>(`text.form.${forms.join("+")}`, null);
  const form = wanted && forms.includes(wanted) ? wanted : (forms[0] ?? "text");
  const told = useMemo(() => visible(text), [text]);
  const language = forms[0] === "json" ? "json" : languageOf(mime, uri);
  const download = (): void =>
    downloadFile(text, fileName([label.toLowerCase()], ENDINGS[forms[0] ?? "text"]), "text/plain");
  const tools = (
    <div className={css.tools}>
      <Tooltip label="Copy this text">
        <ActionIcon aria-label="Copy this text" onClick={() => void copyText(text)}>
          <Icon name="copy" size={14} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Download this text">
        <ActionIcon aria-label="Download this text" onClick={download}>
          <Icon name="download" size={14} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
  const hidden = told !== text && form === "text" && (
    <span className="dim">
      Invisible characters are shown as ⟦U+…⟧. Copy and download keep the original text.
    </span>
  );
  if (forms.length === 1)
    return (
      <div className="stack tight">
        {hidden}
        <div className={css.beside}>
          <TextView text={told} label={label} most={560} language={language} />
          {tools}
        </div>
      </div>
    );
  return (
    <div className="stack tight">
      <div className="row">
        <SegmentedControl
          aria-label={`How to show ${label}`}
          value={form}
          onChange={(next) => setWanted(next as Form)}
          data={forms.map((one) => ({ value: one, label: LABELS[one] }))}
        />
        <span className="grow" />
        {tools}
      </div>
      {hidden}
      {form === "json" ? (
        <JsonTree value={value} label={label} most={480} />
      ) : form === "markdown" ? (
        <Markdown text={text} label={label} />
      ) : (
        <TextView text={told} label={label} most={560} language={language} />
      )}
    </div>
  );
}
