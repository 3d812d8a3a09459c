// The front matter of a skill: each field as the entry has it, and as the file has it.
import type { SkillFileView, SkillView } from "../../api/types";
import { SmallButton } from "../../components/SmallButton";
import { UntrustedText } from "../../components/UntrustedText";
import { visible } from "../../values/hiddenCharacters";
import { fieldsOf } from "../../values/jsonObject";
import css from "./Skills.module.css";
import { Findings, StatusMark } from "./StatusMark";

interface Props {
  skill: SkillView;
  /** The SKILL.md, if it was read. */
  file: SkillFileView | null;
  onRead(): void;
}

const shown = (value: unknown): string =>
  value === undefined ? "" : visible(typeof value === "string" ? value : JSON.stringify(value));

/** The kind of a value, where it is not text: "true" and true look alike. */
const kindOf = (value: unknown): string =>
  value === undefined ? "missing" : typeof value === "string" ? "" : typeof value;

const Value = ({ value }: { value: unknown }) => (
  <span className={css.value}>
    <span className="mono">{shown(value)}</span> <span className="dim small">{kindOf(value)}</span>
  </span>
);

export function FrontMatter({ skill, file, onRead }: Props) {
  const entry = fieldsOf(skill.frontmatter);
  const read = file && fieldsOf(file.front_matter);
  const names = [...new Set([...Object.keys(entry), ...Object.keys(read ?? {})])];
  const differs = (name: string): boolean =>
    read !== null && JSON.stringify(entry[name]) !== JSON.stringify(read[name]);
  return (
    <div className="stack">
      <table className={`plain stacking ${css.manifest}`} aria-label="Front matter">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">In the entry</th>
            <th scope="col">In SKILL.md</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <td className="mono">
                <UntrustedText>{name}</UntrustedText>
              </td>
              <td data-label="In the entry">
                <Value value={entry[name]} />
              </td>
              <td data-label="In SKILL.md">{read ? <Value value={read[name]} /> : "not read"}</td>
              <td>
                {read && (
                  <StatusMark
                    {...(differs(name)
                      ? { tone: "bad", text: "differs" }
                      : { tone: "good", text: "same" })}
                  />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {!read && skill.problem === null && (
        <div>
          <SmallButton onClick={onRead}>Read SKILL.md and compare</SmallButton>
        </div>
      )}
      <Findings
        findings={(file?.verdict.findings ?? []).filter(({ check }) =>
          ["frontmatter", "yaml"].includes(check),
        )}
        label="About the front matter"
      />
    </div>
  );
}
