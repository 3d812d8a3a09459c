// The editor as a plain field: CodeMirror measures what a test's page does not lay out.
interface Props {
  label: string;
  value: string;
  onChange?(text: string): void;
}

export const CodeEditor = ({ label, value, onChange }: Props) => (
  <textarea
    aria-label={label}
    value={value}
    onChange={(event) => onChange?.(event.currentTarget.value)}
  />
);
