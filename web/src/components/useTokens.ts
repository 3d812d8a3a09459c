// The tokens of a text in some language: none until its parser is loaded, and none if it is too long.
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { LARGEST, type Language, type Token } from "../values/highlight";
import { PARSERS, tokenModule } from "./highlighters";
import type { LazyModule } from "./lazyModule";

const NONE: Token[] = [];
const never = (): (() => void) => () => {};

/** A module that is loaded only while it is wanted; colours are no reason to report an error. */
function useWanted<T>(loader: LazyModule<T> | null): T | null {
  useEffect(() => {
    if (loader && !loader.loaded) void loader.load().catch(() => {});
  }, [loader]);
  return useSyncExternalStore(loader?.subscribe ?? never, () => loader?.loaded ?? null);
}

export function useTokens(text: string, language: Language | null): Token[] {
  const isWanted = language !== null && text.length <= LARGEST;
  const parser = useWanted(isWanted ? PARSERS[language] : null);
  const tokens = useWanted(isWanted ? tokenModule : null);
  const isProgram = language === "python" || language === "script";
  return useMemo(
    () => (parser && tokens && isWanted ? tokens.tokensOf(text, parser.parser, isProgram) : NONE),
    [parser, tokens, isWanted, isProgram, text],
  );
}
