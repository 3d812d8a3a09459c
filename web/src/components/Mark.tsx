/** The mark of mcplens: a lens, seen from the front. icon.svg draws the same for the tab. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <circle cx="10" cy="10" r="8" fill="none" stroke="var(--accent)" strokeWidth="2.25" />
      <circle cx="10" cy="10" r="3" fill="var(--accent)" />
    </svg>
  );
}
