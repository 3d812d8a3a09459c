// A text in the form that suits it: JSON as a tree, Markdown rendered, or as it is.
import { SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import { JsonTree } from "./JsonTree";
import { looksLikeMarkdown, Markdown } from "./Markdown";
import { TextView } from "./TextView";
import { parseJson } from "./text";

type Form = "json" | "markdown" | "text";
const LABELS: Record<Form, string> = { json: "JSON", markdown: "Rendered", text: "Raw" };

function formsOf(text: string, mime: string | undefined): Form[] {
  const start = text.trimStart()[0];
  if ((start === "{" || start === "[") && parseJson(text).ok) return ["json", "text"];
  if (mime === "text/markdown" || (!mime && looksLikeMarkdown(text))) return ["markdown", "text"];
  return ["text"];
}

export function RichText({ text, label, mime }: { text: string; label: string; mime?: string }) {
  const forms = useMemo(() => formsOf(text, mime), [text, mime]);
  const [wanted, setWanted] = useState<Form | null>(null);
  const form = wanted && forms.includes(wanted) ? wanted : (forms[0] ?? "text");
  const value = useMemo(() => (form === "json" ? parseJson(text) : null), [form, text]);
  return (
    <div className="stack tight">
      {forms.length > 1 && (
        <div>
          <SegmentedControl
            aria-label={`How to show ${label}`}
            value={form}
            onChange={(next) => setWanted(next as Form)}
            data={forms.map((one) => ({ value: one, label: LABELS[one] }))}
          />
        </div>
      )}
      {value?.ok ? (
        <JsonTree value={value.value} label={label} most={480} />
      ) : form === "markdown" ? (
        <Markdown text={text} />
      ) : (
        <TextView text={text} label={label} most={560} />
      )}
    </div>
  );
}
