// A short block of code with colours, inside of a text.
import type { Language } from "../values/highlight";
import { HighlightedText } from "./TextView";
import { useTokens } from "./useTokens";

export function CodeBlock({ text, language }: { text: string; language: Language | null }) {
  const tokens = useTokens(text, language);
  return (
    <pre className="block" tabIndex={0}>
      <HighlightedText text={text} start={0} end={text.length} tokens={tokens} />
    </pre>
  );
}
