// All validation findings: some have no field to be shown at.
import { TruncatedList } from "../components/TruncatedList";
import css from "./SchemaForm.module.css";
import { type Finding, placeOf } from "./validate";

const lineOf = (finding: Finding) => (
  <>
    <span className="mono">{placeOf(finding)}</span>: {finding.message}
  </>
);

interface Props {
  findings: Finding[];
  /** What could not be checked. */
  unchecked: Finding[];
}

export function Findings({ findings: all, unchecked }: Props) {
  const findings = all.filter((finding) => !finding.isAtField);
  return (
    <>
      {findings.length > 0 && (
        <div data-findings>
          <TruncatedList
            label="Schema violations"
            className={css.findings}
            lines={findings.map(lineOf)}
          />
        </div>
      )}
      {unchecked.length > 0 && (
        <TruncatedList label="Not checked" className={css.notes} lines={unchecked.map(lineOf)} />
      )}
    </>
  );
}
