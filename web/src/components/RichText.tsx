// A text in a suitable view: JSON as a tree, Markdown rendered, CSV as a table, SVG as a picture, or
// highlighted source.
import { ActionIcon, SegmentedControl, Tooltip } from "@mantine/core";
import { useMemo } from "react";
import { usePreference } from "../state/browserStorage";
import { tryParseExactly } from "../values/exactJson";
import { fileName } from "../values/fileName";
import { visible } from "../values/hiddenCharacters";
import { type Language, languageOf } from "../values/highlight";
import { csvTable, type Table } from "../values/tables";
import { copyText } from "./clipboard";
import { downloadFile } from "./download";
import { Icon } from "./Icon";
import { JsonTree } from "./JsonTree";
import { looksLikeMarkdown, Markdown } from "./Markdown";
import { SvgPicture } from "./Media";
import css from "./RichText.module.css";
import { TextView } from "./TextView";
import { ValueTable } from "./ValueTable";

export type Form = "json" | "markdown" | "table" | "picture" | "text";
export const LABELS: Record<Form, string> = {
  json: "JSON",
  markdown: "Rendered",
  table: "Table",
  picture: "Picture",
  text: "Source",
};
// Larger ones are shown as text alone: a table of them, or a picture, would take too long.
const LARGEST_TABLE = 5_000_000;
const LARGEST_PICTURE = 1_000_000;

interface About {
  mime?: string;
  uri?: string;
}

/** Whether a text is of a type: by its MIME type, else by how its address ends. */
const isOf = ({ mime, uri }: About, type: RegExp, ending: RegExp): boolean =>
  mime
    ? type.test((mime.split(";")[0] ?? "").trim())
    : ending.test((uri ?? "").split(/[?#]/, 1)[0] ?? "");

const isMarkdown = (about: About): boolean =>
  isOf(about, /^text\/(x-)?markdown$/i, /\.(md|markdown)$/i);
const isCsv = (about: About): boolean =>
  isOf(about, /^text\/(csv|tab-separated-values)$/i, /\.(csv|tsv)$/i);
const isSvg = (about: About): boolean => isOf(about, /^image\/svg\+xml$/i, /\.svg$/i);

interface Views {
  forms: Form[];
  value?: unknown;
  table?: Table;
}

/** The views that a text can be shown in; the first is the default. */
export function viewsOf(text: string, about: About): Views {
  const json = /^\s*[[{]/.test(text) ? tryParseExactly(text) : null;
  if (json?.ok) return { forms: ["json", "text"], value: json.value };
  if (isMarkdown(about)) return { forms: ["markdown", "text"] };
  if (isSvg(about) && text.length <= LARGEST_PICTURE) return { forms: ["picture", "text"] };
  const table = isCsv(about) && text.length <= LARGEST_TABLE ? csvTable(text) : null;
  if (table) return { forms: ["table", "text"], table };
  // Markdown is only guessed here, so it is rendered on request.
  const isLikely = !about.mime && !about.uri && looksLikeMarkdown(text);
  return { forms: isLikely ? ["text", "markdown"] : ["text"] };
}

const ENDINGS: Record<Form, string> = {
  json: "json",
  markdown: "md",
  table: "csv",
  picture: "svg",
  text: "txt",
};

interface ViewProps extends Pick<Views, "value" | "table"> {
  form: Form;
  text: string;
  /** The text with characters that cannot be seen shown. */
  told: string;
  label: string;
  language: Language | null;
}

function View({ form, text, told, value, table, label, language }: ViewProps) {
  if (form === "json") return <JsonTree value={value} label={label} most={480} />;
  if (form === "markdown") return <Markdown text={text} label={label} />;
  if (form === "table" && table) return <ValueTable table={table} label={label} most={560} />;
  if (form === "picture") return <SvgPicture text={text} />;
  return <TextView text={told} label={label} most={560} language={language} />;
}

/** The view of a text that is shown: whoever wants the source of one Markdown text wants that of the
 * next one too. */
export function useTextForm(forms: Form[]): [Form, (form: Form) => void] {
  const [wanted, setWanted] = usePreference<Form | null>(`text.form.${forms.join("+")}`, null);
  return [wanted && forms.includes(wanted) ? wanted : (forms[0] ?? "text"), setWanted];
}

interface Props extends About {
  text: string;
  label: string;
  /** The view to show, where the parent has the switch between them. */
  form?: Form;
}

export function RichText({ text, label, mime, uri, form: given }: Props) {
  const { forms, value, table } = useMemo(() => viewsOf(text, { mime, uri }), [text, mime, uri]);
  const [wanted, setWanted] = useTextForm(forms);
  const form = given ?? wanted;
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
  const view = (
    <View
      form={form}
      text={text}
      told={told}
      value={value}
      table={table}
      label={label}
      language={language}
    />
  );
  if (forms.length === 1 || given)
    return (
      <div className="stack tight">
        {hidden}
        <div className={css.beside}>
          {view}
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
      {view}
    </div>
  );
}
