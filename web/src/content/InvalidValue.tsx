// A value that violates the protocol: what is wrong, and the value itself.
import { Callout } from "../components/Callout";
import { JsonTree } from "../components/JsonTree";
import { ExactNumber } from "../values/exactJson";

/** The type of a JSON value as text. */
export function typeName(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (value instanceof ExactNumber) return "a number";
  if (typeof value === "object") return "an object";
  return typeof value === "boolean" ? `${value}` : `a ${typeof value}`;
}

/** Sentence about a value of the wrong type. */
export const typeMismatch = (name: string, value: unknown, wanted: string): string =>
  `${name} is ${typeName(value)}; the protocol wants ${wanted}.`;

export function InvalidValue({
  text,
  value,
  label,
}: {
  text: string;
  value: unknown;
  label: string;
}) {
  return (
    <div className="stack tight">
      <Callout>{text}</Callout>
      {value !== undefined && <JsonTree value={value} label={label} most={300} />}
    </div>
  );
}
