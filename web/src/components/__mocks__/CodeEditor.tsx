// The editor as a plain textarea: CodeMirror needs a layout, which the test DOM does not have.
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
