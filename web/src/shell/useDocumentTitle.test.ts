// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { parseLocation } from "../state/navigation";
import { documentTitle } from "./useDocumentTitle";

const titles: [string, string | null, number, string][] = [
  ["/s/weather/tools/echo", "Weather", 2, "(2) echo · Tools · Weather · mcplens"],
  ["/s/weather/traffic/17", "Weather", 0, "Traffic · Weather · mcplens"],
  ["/servers/weather", "Weather", 0, "Info · Weather · mcplens"],
  ["/servers/weather/experimental", "Weather", 0, "Experimental · Weather · mcplens"],
  ["/questions/q1", null, 1, "(1) Questions · mcplens"],
  ["/", null, 0, "Servers · mcplens"],
];

test.each(titles)("the title of %s", (path, server, waiting, title) => {
  expect(documentTitle(parseLocation(path), server, waiting)).toBe(title);
});
