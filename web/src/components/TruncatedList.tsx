import type { ReactNode } from "react";

// The first items are enough.
const MOST = 20;

interface Props {
  label: string;
  lines: ReactNode[];
  className?: string;
}

/** The first lines of a list, and the number of the others. */
export function TruncatedList({ label, lines, className }: Props) {
  const more = lines.length - MOST;
  return (
    <ul className={className} aria-label={label}>
      {lines.slice(0, MOST).map((line, index) => (
        <li key={index}>{line}</li>
      ))}
      {more > 0 && <li>and {more.toLocaleString("en")} more</li>}
    </ul>
  );
}
