// A short word on how something stands, with its colour; and findings as sentences.
import type { SkillFinding } from "../../api/types";
import { Icon } from "../../components/Icon";
import { visible } from "../../values/hiddenCharacters";
import css from "./Skills.module.css";
import type { Status } from "./skillStatus";

export const StatusMark = ({ tone, text }: Status) => (
  <span className={css.mark} data-tone={tone}>
    {text}
  </span>
);

/** What is wrong, errors first. */
export function Findings({ findings, label }: { findings: SkillFinding[]; label: string }) {
  if (findings.length === 0) return null;
  const sorted = [...findings].sort((one, other) => Number(other.is_error) - Number(one.is_error));
  return (
    <ul className={css.findings} aria-label={label}>
      {sorted.map((finding) => (
        <li key={`${finding.check} ${finding.uri} ${finding.text}`} data-error={finding.is_error}>
          <Icon name={finding.is_error ? "alert" : "info"} size={14} />
          <span>{visible(finding.text)}</span>
        </li>
      ))}
    </ul>
  );
}
