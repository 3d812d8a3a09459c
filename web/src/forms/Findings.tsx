// All validation findings: some have no field to be shown at.
import { TruncatedList } from "../components/TruncatedList";
import css from "./SchemaForm.module.css";
import { type Finding, placeOf } from "./validate";

const lineOf = (finding: Finding) => (
  <>
    <span className="mono">{placeOf(finding)}</span>: {finding.message}
  </>
);

export function Findings({ findings }: { findings: Finding[] }) {
  if (findings.length === 0) return null;
  return (
    <div data-findings>
      <TruncatedList
        label="Schema violations"
        className={css.findings}
        lines={findings.map(lineOf)}
      />
    </div>
  );
}
