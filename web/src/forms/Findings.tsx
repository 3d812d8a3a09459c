// All that is wrong with the arguments, wherever it is: not everything has a field to stand at.
import css from "./SchemaForm.module.css";
import { type Finding, placeOf } from "./validate";

// A list of thousands of bad items says no more than its beginning.
const MOST = 20;

export function Findings({ findings }: { findings: Finding[] }) {
  if (findings.length === 0) return null;
  const more = findings.length - MOST;
  return (
    <ul className={css.findings} aria-label="What breaks the schema">
      {findings.slice(0, MOST).map((finding) => (
        <li key={`${finding.pointer} ${finding.message}`}>
          <span className="mono">{placeOf(finding)}</span>: {finding.message}
        </li>
      ))}
      {more > 0 && <li>and {more} more</li>}
    </ul>
  );
}
