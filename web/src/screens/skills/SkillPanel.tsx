// One skill: facts, what is wrong, and views of its files, text, front matter and entry.
import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import type {
  ErrorView,
  ServerView,
  SkillComparison,
  SkillFileView,
  SkillFolderView,
  SkillView,
} from "../../api/types";
import { ButtonWithReason } from "../../components/ButtonWithReason";
import { Callout } from "../../components/Callout";
import { copyText } from "../../components/clipboard";
import { ErrorNote } from "../../components/ErrorNote";
import { TextView } from "../../components/TextView";
import { UntrustedText } from "../../components/UntrustedText";
import { useBusy } from "../../components/useBusy";
import { useNow } from "../../components/useNow";
import { command } from "../../state/commands";
import { pathTo } from "../../state/navigation";
import { skillSettings } from "../../state/protocol";
import { errorViewOf } from "../../state/toasts";
import { formatBytes, formatDuration, pluralize } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import { pretty } from "../../values/json";
import { fieldsOf } from "../../values/jsonObject";
import { FrontMatter } from "./FrontMatter";
import { ManifestTable } from "./ManifestTable";
import css from "./Skills.module.css";
import { SkillText } from "./SkillText";
import { Findings } from "./StatusMark";
import type { Skills } from "./useSkills";

const VIEWS = [
  { value: "files", label: "Files" },
  { value: "text", label: "Text" },
  { value: "front", label: "Front matter" },
  { value: "entry", label: "Entry" },
];

const SKILL_FILE = "SKILL.md";

/** Seconds in words, without a fraction that nobody can read while it counts. */
const age = (seconds: number): string =>
  formatDuration(Math.max(1, Math.round(seconds))).replace(/\.0+ s$/, " s");

function Facts({ skill }: { skill: SkillView }) {
  const now = useNow(true);
  const old = Math.max(0, now - skill.fetched);
  const fresh = skill.ttl_ms === null ? null : skill.ttl_ms / 1000;
  return (
    <div className="row wrap dim small">
      <span>
        {skill.is_dynamic
          ? "dynamic: its files are not listed, so they cannot be verified"
          : `${pluralize(skill.files.length, "file")} · ${formatBytes(skill.size_bytes)}`}
      </span>
      <span className={css.age}>
        fetched {age(old)} ago
        {fresh !== null && `, ${old > fresh ? "stale" : "fresh"} (TTL ${age(fresh)})`}
      </span>
      <button
        type="button"
        className={`plain mono ${css.uri}`}
        title="Copy"
        onClick={() => void copyText(skill.uri)}
      >
        <UntrustedText>{skill.uri}</UntrustedText>
      </button>
    </div>
  );
}

function Requests({ skill }: { skill: SkillView }) {
  if (skill.requests.length === 0) return null;
  return (
    <section className="stack tight" aria-label="Requested, ignored">
      <h3 className="section-title">Requested, ignored</h3>
      <ul className={css.requests}>
        {skill.requests.map((text) => (
          <li key={text} className="mono">
            {visible(text)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Compared({ comparison }: { comparison: SkillComparison }) {
  const { differences, is_listed, got } = comparison;
  if (!is_listed) return <Callout tone="info">skills/list does not have this skill.</Callout>;
  if (differences.length === 0)
    return <Callout tone="info">skills/get gives the same entry as skills/list.</Callout>;
  return (
    <Callout>
      skills/get differs from skills/list:
      <ul className={css.requests}>
        {differences.map(({ text, expected, actual }) => (
          <li key={text}>
            {visible(text)}: <span className="mono">{visible(expected || "nothing")}</span> →{" "}
            <span className="mono">{visible(actual || "nothing")}</span>
          </li>
        ))}
      </ul>
      {got.problem && visible(got.problem)}
    </Callout>
  );
}

interface Props {
  server: ServerView;
  skill: SkillView;
  skills: Skills;
}

/** What was asked about one skill: a file, its folders, its entry by skills/get. */
function useAnswers({ server, skill, skills }: Props) {
  const [file, setFile] = useState<SkillFileView | null>(null);
  const [folder, setFolder] = useState<SkillFolderView | null>(null);
  const [comparison, setComparison] = useState<SkillComparison | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  const { isBusy, run } = useBusy();
  const of = { server_id: server.server_id, uri: skill.uri };
  const ask = (work: () => Promise<void>): void =>
    run(async () => {
      setError(null);
      try {
        await work();
      } catch (thrown) {
        setError(errorViewOf(thrown));
      }
    });
  return {
    file,
    folder,
    comparison,
    error,
    isBusy,
    read: (path: string) =>
      ask(async () => {
        const found = await command("CheckSkillFile", { ...of, path });
        setFile(found);
        skills.note([found.verdict]);
      }),
    readFolder: () => ask(async () => setFolder(await command("ReadSkillFolder", of))),
    compare: () => ask(async () => setComparison(await command("GetSkill", of))),
  };
}

type Answers = ReturnType<typeof useAnswers>;

function Actions({ server, skill, skills, answers }: Props & { answers: Answers }) {
  const canList = fieldsOf(skillSettings(server.capabilities)).directoryRead === true;
  const offline = server.state === "CONNECTED" ? null : "The server is not connected";
  return (
    <div className="actions">
      <ButtonWithReason
        disabledReason={offline ?? (skill.problem && "A broken entry cannot be verified")}
        hint="Read every file of this skill, and compare it with the manifest"
        loading={skills.isBusy}
        onClick={() => skills.verify(skill.uri)}
      >
        Verify
      </ButtonWithReason>
      <ButtonWithReason
        variant="default"
        disabledReason={offline}
        hint="Ask for the entry again, and compare it with that of the list"
        onClick={answers.compare}
      >
        Compare with skills/get
      </ButtonWithReason>
      <ButtonWithReason
        variant="default"
        disabledReason={offline ?? (canList ? null : "The server does not declare directoryRead")}
        hint="List the folders of this skill, and compare them with the manifest"
        onClick={answers.readFolder}
      >
        List folders
      </ButtonWithReason>
    </div>
  );
}

export function SkillPanel(props: Props) {
  const { server, skill, skills } = props;
  const answers = useAnswers(props);
  const [view, setView] = useState("files");
  const open = (path: string): void => {
    setView("text");
    answers.read(path);
  };
  const show = (next: string): void => {
    setView(next);
    // The text of a skill is what was asked for; its front matter is read on request.
    if (next === "text" && !answers.file && skill.problem === null) answers.read(SKILL_FILE);
  };
  const { file, folder, comparison, error } = answers;
  const front = file?.verdict.path === SKILL_FILE ? file : null;
  return (
    <section className="pane" aria-label={`Skill ${visible(skill.name)}`}>
      <Link to={pathTo(server.server_id, "skills")} className={`narrow-only ${css.back}`}>
        All skills
      </Link>
      <div className="toolbar">
        <h2 className="title">
          <UntrustedText>{skill.name || skill.uri}</UntrustedText>
        </h2>
        <Actions {...props} answers={answers} />
      </div>
      <div className={`scroll pad stack ${css.detail}`}>
        <p className={css.description}>
          <UntrustedText>{skill.description}</UntrustedText>
        </p>
        <Facts skill={skill} />
        <Findings findings={skill.findings} label="About the entry" />
        <Requests skill={skill} />
        {error && <ErrorNote error={error} />}
        {comparison && <Compared comparison={comparison} />}
        <div>
          <SegmentedControl aria-label="View" value={view} onChange={show} data={VIEWS} />
        </div>
        {view === "files" && (
          <ManifestTable skill={skill} verdicts={skills.verdicts} folder={folder} onOpen={open} />
        )}
        {view === "text" && (
          <SkillText skill={skill} file={file} isBusy={answers.isBusy} onRead={answers.read} />
        )}
        {view === "front" && (
          <FrontMatter skill={skill} file={front} onRead={() => answers.read(SKILL_FILE)} />
        )}
        {view === "entry" && (
          <TextView text={visible(pretty(skill.value))} label="Entry" most={560} language="json" />
        )}
      </div>
    </section>
  );
}
