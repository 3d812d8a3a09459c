// What is wrong with arguments as they would be sent now.
import { useMemo } from "react";
import { type Parsed, parseJson } from "../values/json";
import { type Arguments, hindrance } from "./ArgumentsEditor";
import { halfFindings } from "./halfTyped";
import { type Finding, validate } from "./validate";

export function useFindings(
  schema: unknown,
  { text, mode, half }: Arguments,
): { parsed: Parsed; findings: Finding[] } {
  const parsed = useMemo(() => parseJson(text ?? "{}"), [text]);
  const broken = useMemo(
    () => (parsed.ok ? validate(schema ?? {}, parsed.value) : []),
    [parsed, schema],
  );
  const findings = useMemo(() => {
    const isForm = half && mode === "form" && parsed.ok && hindrance(text) === null;
    const unsent = isForm ? halfFindings(half, parsed.value) : [];
    const isTold = ({ pointer }: Finding): boolean => unsent.some((one) => one.pointer === pointer);
    return [...broken.filter((one) => !isTold(one)), ...unsent];
  }, [broken, parsed, half, mode, text]);
  return { parsed, findings };
}
