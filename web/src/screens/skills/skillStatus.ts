// How a skill and its files stand, in words: from the entry, and from what was verified.
import type { FileVerdict, SkillView } from "../../api/types";
import { pluralize } from "../../values/format";

export type Tone = "good" | "bad" | "wait" | "off";

export interface Status {
  tone: Tone;
  text: string;
}

/** What came of the files that were read, by skill and path. */
export type Verdicts = ReadonlyMap<string, FileVerdict>;

export const verdictKey = (skill: string, path: string): string => `${skill}\n${path}`;

const WRONG = new Set<FileVerdict["status"]>(["mismatch", "broken", "failed"]);

export const isWrong = ({ status }: FileVerdict): boolean => WRONG.has(status);

const STATUS: Record<FileVerdict["status"], Status> = {
  verified: { tone: "good", text: "as listed" },
  mismatch: { tone: "bad", text: "differs" },
  broken: { tone: "bad", text: "broken answer" },
  failed: { tone: "bad", text: "not readable" },
  unverifiable: { tone: "wait", text: "cannot be verified" },
  "not-read": { tone: "off", text: "not read" },
};

export const statusOfFile = (verdict: FileVerdict): Status => STATUS[verdict.status];

/** How a skill stands in the list; null if there is nothing to say. */
export function statusOfSkill(skill: SkillView, verdicts: Verdicts): Status | null {
  if (skill.problem !== null) return { tone: "bad", text: "broken entry" };
  const own = [...verdicts.values()].filter((verdict) => verdict.skill === skill.uri);
  const wrong = own.filter(isWrong).length;
  if (wrong)
    return {
      tone: "bad",
      text: `${pluralize(wrong, "file")} ${wrong === 1 ? "differs" : "differ"}`,
    };
  const warnings = skill.findings.length ? pluralize(skill.findings.length, "warning") : null;
  const isAll = skill.files.length > 0 && skill.files.length <= own.length;
  // That files are as listed takes nothing back of what is wrong with the skill.
  if (isAll && own.every(({ status }) => status === "verified"))
    return warnings === null
      ? { tone: "good", text: "as listed" }
      : { tone: "wait", text: `as listed, ${warnings}` };
  if (warnings !== null) return { tone: "wait", text: warnings };
  return skill.is_dynamic ? { tone: "off", text: "dynamic" } : null;
}

/** The skills whose name, description or URI has this text. */
export function matchingSkills(skills: SkillView[], text: string): SkillView[] {
  const wanted = text.trim().toLowerCase();
  return skills.filter(({ name, description, uri }) =>
    [name, description, uri].some((one) => one.toLowerCase().includes(wanted)),
  );
}

/** The path of a file within its skill. */
export const pathIn = (skill: SkillView, uri: string): string =>
  uri.startsWith(`${skill.directory}/`) ? uri.slice(skill.directory.length + 1) : uri;
