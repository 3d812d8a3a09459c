// Lezer's parsers, one module per language, loaded when a text in that language is shown.
import type { Parser } from "@lezer/common";
import type { Language } from "../values/highlight";
import { type LazyModule, lazyModule } from "./lazyModule";

interface Loaded {
  parser: Parser;
}

export const PARSERS: Record<Language, LazyModule<Loaded>> = {
  json: lazyModule(() => import("@lezer/json")),
  xml: lazyModule(() => import("@lezer/xml")),
  yaml: lazyModule(() => import("@lezer/yaml")),
  python: lazyModule(() => import("@lezer/python")),
  script: lazyModule(async () => {
    const { parser } = await import("@lezer/javascript");
    return { parser: parser.configure({ dialect: "ts jsx" }) };
  }),
};

/** What turns a parsed text into tokens. */
export const tokenModule = lazyModule(() => import("./tokens"));
