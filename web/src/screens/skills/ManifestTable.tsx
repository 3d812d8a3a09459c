// The manifest of a skill: what it says of each file, what came, and what the folders have.
import type {
  FileVerdict,
  SkillFile,
  SkillFinding,
  SkillFolderView,
  SkillView,
} from "../../api/types";
import { Callout } from "../../components/Callout";
import { SmallButton } from "../../components/SmallButton";
import { UntrustedText } from "../../components/UntrustedText";
import { formatBytes } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import css from "./Skills.module.css";
import { Findings, StatusMark } from "./StatusMark";
import { pathIn, statusOfFile, type Verdicts, verdictKey } from "./skillStatus";

interface Props {
  skill: SkillView;
  verdicts: Verdicts;
  folder: SkillFolderView | null;
  onOpen(path: string): void;
}

const DIGITS = 12;

/** The beginning of a digest; all of it is in the tooltip. */
const Digest = ({ value }: { value: string | null }) =>
  value ? (
    <span className="mono" title={value}>
      {visible(value.replace("sha256:", "").slice(0, DIGITS))}…
    </span>
  ) : null;

const SizeAndDigest = ({ size, digest }: { size: number | null; digest: string | null }) =>
  size === null ? null : (
    <span className={css.bytes}>
      {formatBytes(size)} <Digest value={digest} />
    </span>
  );

/** The findings of a file, each with its path. */
const withPath = ({ path, findings }: FileVerdict): SkillFinding[] =>
  findings.map((finding) => ({
    ...finding,
    text: finding.text.startsWith(path) ? finding.text : `${path}: ${finding.text}`,
  }));

interface RowProps {
  path: string;
  file: SkillFile | null;
  verdict: FileVerdict | undefined;
  inFolder: boolean | null;
  onOpen(path: string): void;
}

function Row({ path, file, verdict, inFolder, onOpen }: RowProps) {
  return (
    <tr>
      <td>
        {file ? (
          <button type="button" className={`plain mono ${css.path}`} onClick={() => onOpen(path)}>
            <UntrustedText>{path}</UntrustedText>
          </button>
        ) : (
          <span className={`mono ${css.path}`}>
            <UntrustedText>{path}</UntrustedText>
          </span>
        )}
      </td>
      <td data-label="Manifest">
        {file ? <SizeAndDigest size={file.size} digest={file.digest} /> : "—"}
      </td>
      <td data-label="Received">
        {verdict ? <SizeAndDigest size={verdict.size} digest={verdict.digest} /> : "not read"}
      </td>
      <td>
        <span className="row wrap">
          {verdict && <StatusMark {...statusOfFile(verdict)} />}
          {!file && <StatusMark tone="wait" text="not in the manifest" />}
          {file && inFolder === false && <StatusMark tone="bad" text="not in the folder" />}
        </span>
      </td>
    </tr>
  );
}

export function ManifestTable({ skill, verdicts, folder, onOpen }: Props) {
  const listed = new Set(skill.files.map(({ uri }) => uri));
  const found = folder && new Set(folder.entries.map(({ uri }) => uri));
  const others = (folder?.entries ?? []).filter(
    ({ uri, is_directory }) => !is_directory && !listed.has(uri),
  );
  // What a row says already is not said again below.
  const elsewhere = (folder?.findings ?? []).filter(
    ({ uri }) => !others.some((one) => one.uri === uri) && !(listed.has(uri) && !found?.has(uri)),
  );
  const own = [...verdicts.values()].filter((verdict) => verdict.skill === skill.uri);
  const isAnyVerified = own.some(({ status }) => status === "verified");
  return (
    <div className="stack">
      {skill.is_dynamic && (
        <div>
          <SmallButton onClick={() => onOpen(pathIn(skill, skill.uri))}>Read SKILL.md</SmallButton>
        </div>
      )}
      {(skill.files.length > 0 || others.length > 0) && (
        <table className={`plain stacking ${css.manifest}`} aria-label="Manifest">
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col">Manifest</th>
              <th scope="col">Received</th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {skill.files.map((file) => (
              <Row
                key={file.uri}
                path={pathIn(skill, file.uri)}
                file={file}
                verdict={verdicts.get(verdictKey(skill.uri, pathIn(skill, file.uri)))}
                inFolder={found ? found.has(file.uri) : null}
                onOpen={onOpen}
              />
            ))}
            {others.map(({ uri }) => (
              <Row
                key={uri}
                path={pathIn(skill, uri)}
                file={null}
                verdict={undefined}
                inFolder
                onOpen={onOpen}
              />
            ))}
          </tbody>
        </table>
      )}
      {folder?.cut && <Callout>There may be more in the folders: {folder.cut}</Callout>}
      {folder && others.length === 0 && folder.findings.length === 0 && (
        <span className="dim">The folders have exactly the files of the manifest.</span>
      )}
      <Findings findings={elsewhere} label="About the folders" />
      <Findings findings={own.flatMap(withPath)} label="About the files" />
      {isAnyVerified && (
        <span className="dim">
          “As listed” means that a file is what the manifest says, not that it can be trusted.
        </span>
      )}
    </div>
  );
}
