// A text in the form that suits it: JSON as a tree, Markdown rendered, or as it is.
import { SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import { JsonTree } from "./JsonTree";
import { looksLikeMarkdown, Markdown } from "./Markdown";
import { TextView } from "./TextView";
import { parseJson } from "./text";

type Form = "json" | "markdown" | "text";
const LABELS: Record<Form, string> = { json: "JSON", markdown: "Rendered", text: "Raw" };

function formsOf(text: string, mime: string | undefined): { forms: Form[]; value: unknown } {
  const start = text.trimStart()[0];
  const parsed = start === "{" || start === "[" ? parseJson(text) : null;
  if (parsed?.ok) return { forms: ["json", "text"], value: parsed.value };
  const isMarkdown = mime === "text/markdown" || (!mime && looksLikeMarkdown(text));
  return { forms: isMarkdown ? ["markdown", "text"] : ["text"], value: undefined };
}

export function RichText({ text, label, mime }: { text: string; label: string; mime?: string }) {
  const { forms, value } = useMemo(() => formsOf(text, mime), [text, mime]);
  const [wanted, setWanted] = useState<Form | null>(null);
  const form = wanted && forms.includes(wanted) ? wanted : (forms[0] ?? "text");
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
      {form === "json" ? (
        <JsonTree value={value} label={label} most={480} />
      ) : form === "markdown" ? (
        <Markdown text={text} />
      ) : (
        <TextView text={text} label={label} most={560} />
      )}
    </div>
  );
}
