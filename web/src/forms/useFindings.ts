// Validation findings about the arguments as they would be sent.
import { useMemo } from "react";
import { type Parsed, parseJson } from "../values/json";
import { type Arguments, formObstacle } from "./ArgumentsEditor";
import { formSchemaOf, planForm } from "./formSchema";
import { partialInputFindings, withPartialInputs } from "./partialInput";
import { useVerdicts } from "./patternVerdicts";
import { type Check, check, type Finding } from "./validate";

interface Validated extends Check {
  parsed: Parsed;
  /** What is sent in spite of the findings: also what is typed, but no value for its field. */
  asTyped: string;
}

const NOTHING: Check = { findings: [], unchecked: [] };

export function useFindings(schema: unknown, { text, mode, partial }: Arguments): Validated {
  const parsed = useMemo(() => parseJson(text ?? "{}"), [text]);
  const verdicts = useVerdicts();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it reads the verdicts
  const { findings: broken, unchecked } = useMemo(
    () => (parsed.ok ? check(schema ?? {}, parsed.value) : NOTHING),
    [parsed, schema, verdicts],
  );
  const findings = useMemo(() => {
    const isForm = partial && mode === "form" && parsed.ok && formObstacle(text) === null;
    const unsent = isForm ? partialInputFindings(partial, parsed.value) : [];
    const isTold = ({ pointer }: Finding): boolean => unsent.some((one) => one.pointer === pointer);
    return [...broken.filter((one) => !isTold(one)), ...unsent];
  }, [broken, parsed, partial, mode, text]);
  const isPartial = findings.some((finding) => finding.isAtField);
  const form = useMemo(
    () => (isPartial ? formSchemaOf(planForm(schema)) : {}),
    [isPartial, schema],
  );
  const asTyped = useMemo(
    () => (isPartial ? withPartialInputs(text ?? "{}", partial ?? {}, form) : (text ?? "{}")),
    [isPartial, text, partial, form],
  );
  return { parsed, findings, unchecked, asTyped };
}
