// A folder on this computer compared with what the server serves: which skills are missing, and why.
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import type { DiskComparison, ErrorView, FolderVerdict, FolderView } from "../../api/types";
import { Callout } from "../../components/Callout";
import { ErrorNote } from "../../components/ErrorNote";
import { FolderChooser } from "../../components/FolderChooser";
import { UntrustedText } from "../../components/UntrustedText";
import { useBusy } from "../../components/useBusy";
import { useDraft } from "../../state/browserStorage";
import { command } from "../../state/commands";
import { pathTo } from "../../state/navigation";
import { errorViewOf, withErrorToast } from "../../state/toasts";
import css from "./Skills.module.css";
import { Findings, StatusMark } from "./StatusMark";
import type { Status } from "./skillStatus";

const WORDS: Record<FolderVerdict["status"], Status> = {
  same: { tone: "good", text: "served as it is here" },
  differs: { tone: "bad", text: "served, and differs" },
  missing: { tone: "bad", text: "not served" },
  unlisted: { tone: "wait", text: "served, and not listed" },
  "only-served": { tone: "wait", text: "served, and not in the folder" },
  unknown: { tone: "wait", text: "not in the part of the list that was read" },
};

function Verdict({ serverId, verdict }: { serverId: string; verdict: FolderVerdict }) {
  const { name, status, path, uri, findings } = verdict;
  return (
    <li className="stack tight">
      <div className="row wrap">
        <span className={css.name}>
          {uri ? (
            <Link to={pathTo(serverId, "skills", uri)}>
              <UntrustedText>{name}</UntrustedText>
            </Link>
          ) : (
            <UntrustedText>{name}</UntrustedText>
          )}
        </span>
        <StatusMark {...WORDS[status]} />
        <span className={`mono dim ${css.uri}`}>
          <UntrustedText>{path ?? uri ?? ""}</UntrustedText>
        </span>
      </div>
      <Findings findings={[...findings]} label={`About ${name}`} />
    </li>
  );
}

export function FolderComparison({ serverId }: { serverId: string }) {
  const [path, setPath] = useDraft(`skills.folder.${serverId}`, "");
  const [folder, setFolder] = useState<FolderView | null>(null);
  const [found, setFound] = useState<DiskComparison | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  const { isBusy, run } = useBusy();
  const browse = async (): Promise<void> =>
    setFolder(
      await withErrorToast(
        "The folder cannot be read",
        command("BrowseFolder", { path: path || null, is_start: true }),
      ),
    );
  const compare = (): void =>
    run(async () => {
      setError(null);
      try {
        setFound(await command("CompareSkillFolder", { server_id: serverId, path }));
      } catch (thrown) {
        setFound(null);
        setError(errorViewOf(thrown));
      }
    });
  return (
    <section className="scroll pad" aria-label="Compare with a folder">
      <div className={`stack ${css.detail}`}>
        <Link to={pathTo(serverId, "skills")} className="narrow-only">
          All skills
        </Link>
        <h2 className="title">Compare with a folder</h2>
        <p className={`dim ${css.description}`}>
          The skills of a folder on this computer, beside those that {serverId} serves: which are
          missing, which differ, and why.
        </p>
        <form
          className={`row wrap ${css.folder}`}
          onSubmit={(event) => {
            event.preventDefault();
            compare();
          }}
        >
          <TextInput
            className="grow"
            aria-label="Folder with skills"
            placeholder="A folder with skills, or of one skill"
            value={path}
            onChange={(event) => setPath(event.currentTarget.value)}
          />
          <Button variant="default" onClick={() => void browse()}>
            Browse
          </Button>
          <Button type="submit" loading={isBusy} disabled={!path.trim()}>
            Compare
          </Button>
        </form>
        {error && <ErrorNote error={error} title="The folder was not compared" />}
        {found?.cut && <Callout>There may be more skills: {found.cut}</Callout>}
        {found && (
          <ul className={css.verdicts} aria-label="Skills of the folder and of the server">
            {found.verdicts.map((verdict) => (
              <Verdict
                key={`${verdict.path} ${verdict.uri}`}
                serverId={serverId}
                verdict={verdict}
              />
            ))}
          </ul>
        )}
      </div>
      {folder && (
        <FolderChooser
          start={folder}
          onClose={() => setFolder(null)}
          onChoose={(chosen) => {
            setPath(chosen);
            setFolder(null);
          }}
        />
      )}
    </section>
  );
}
