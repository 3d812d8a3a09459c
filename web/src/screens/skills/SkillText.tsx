// A file of a skill as it was read: what came of the checks, what a reader does not see, its text.
import { SegmentedControl, Select } from "@mantine/core";
import type { HiddenPart, SkillFileView, SkillView } from "../../api/types";
import { ButtonWithReason } from "../../components/ButtonWithReason";
import { Callout } from "../../components/Callout";
import { copyText } from "../../components/clipboard";
import { EmptyState } from "../../components/EmptyState";
import { Markdown } from "../../components/Markdown";
import { SmallButton } from "../../components/SmallButton";
import { TextView } from "../../components/TextView";
import { usePreference } from "../../state/browserStorage";
import { formatBytes, pluralize } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import css from "./Skills.module.css";
import { Findings, StatusMark } from "./StatusMark";
import { isWrong, pathIn, statusOfFile } from "./skillStatus";

interface Props {
  skill: SkillView;
  file: SkillFileView | null;
  isBusy: boolean;
  onRead(path: string): void;
}

function HiddenParts({ parts }: { parts: HiddenPart[] }) {
  if (parts.length === 0) return null;
  return (
    <section className="stack tight" aria-label="What a reader does not see">
      <h3 className="section-title">
        What a reader does not see: {pluralize(parts.length, "place")}
      </h3>
      <ul className={css.hidden}>
        {parts.map(({ kind, line, column, text }) => (
          <li key={`${kind} ${line} ${column}`}>
            <span className="dim">
              line {line}, column {column}
            </span>{" "}
            {kind === "comment" ? "comment " : ""}
            <span className="mono">{visible(text)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

// Each of these is in the list of what a reader does not see.
const LISTED_BELOW = ["hidden", "comment"];
const FORMS = [
  { value: "rendered", label: "Rendered" },
  { value: "source", label: "Source" },
];

function FileText({ file }: { file: SkillFileView }) {
  const [form, setForm] = usePreference("skills.form", "rendered");
  const { text, body, mime_type, is_cut, verdict } = file;
  if (text === null)
    return (
      <p className="dim">
        {verdict.size === null
          ? "Nothing of it is shown."
          : `${formatBytes(verdict.size)} that are not text (${visible(mime_type ?? "no type")}).`}
      </p>
    );
  const isMarkdown = /\.md$/i.test(verdict.path);
  return (
    <>
      {is_cut && <Callout tone="info">The file goes on; its beginning is shown.</Callout>}
      <div className="row">
        {isMarkdown && (
          <SegmentedControl
            aria-label={`How to show ${verdict.path}`}
            value={form}
            onChange={setForm}
            data={FORMS}
          />
        )}
        <span className="grow" />
        <SmallButton onClick={() => void copyText(text)}>Copy</SmallButton>
      </div>
      {isMarkdown && form === "rendered" ? (
        <Markdown text={body ?? text} label={verdict.path} />
      ) : (
        <TextView text={visible(text)} label={verdict.path} most={560} />
      )}
    </>
  );
}

export function SkillText({ skill, file, isBusy, onRead }: Props) {
  if (skill.problem !== null)
    return <Callout>The entry is broken, so no file of this skill is read.</Callout>;
  if (!file) return <EmptyState icon="skills" title={isBusy ? "Reading…" : "Not read"} />;
  const { verdict } = file;
  const paths = skill.files.map(({ uri }) => pathIn(skill, uri));
  return (
    <div className="stack">
      <div className="row wrap">
        <Select
          aria-label="File"
          className={css.chooser}
          data={[...new Set([verdict.path, ...paths])].map((path) => ({
            value: path,
            label: visible(path),
          }))}
          value={verdict.path}
          allowDeselect={false}
          onChange={(path) => path !== null && onRead(path)}
        />
        <StatusMark {...statusOfFile(verdict)} />
        <span className="grow" />
        <ButtonWithReason
          variant="default"
          size="compact-sm"
          disabledReason={null}
          hint="Read this file again, and verify it"
          onClick={() => onRead(verdict.path)}
        >
          Read again
        </ButtonWithReason>
      </div>
      {isWrong(verdict) && (
        <Callout>A host must not use this file. It is shown so that you can see why.</Callout>
      )}
      <Findings
        findings={verdict.findings.filter(({ check }) => !LISTED_BELOW.includes(check))}
        label="About this file"
      />
      <HiddenParts parts={file.hidden} />
      <FileText file={file} />
    </div>
  );
}
