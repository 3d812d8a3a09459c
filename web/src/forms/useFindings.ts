// Validation findings about the arguments as they would be sent.
import { useMemo } from "react";
import { type Parsed, parseJson } from "../values/json";
import { type Arguments, formObstacle } from "./ArgumentsEditor";
import { partialInputFindings } from "./partialInput";
import { type Finding, validate } from "./validate";

export function useFindings(
  schema: unknown,
  { text, mode, partial }: Arguments,
): { parsed: Parsed; findings: Finding[] } {
  const parsed = useMemo(() => parseJson(text ?? "{}"), [text]);
  const broken = useMemo(
    () => (parsed.ok ? validate(schema ?? {}, parsed.value) : []),
    [parsed, schema],
  );
  const findings = useMemo(() => {
    const isForm = partial && mode === "form" && parsed.ok && formObstacle(text) === null;
    const unsent = isForm ? partialInputFindings(partial, parsed.value) : [];
    const isTold = ({ pointer }: Finding): boolean => unsent.some((one) => one.pointer === pointer);
    return [...broken.filter((one) => !isTold(one)), ...unsent];
  }, [broken, parsed, partial, mode, text]);
  return { parsed, findings };
}
