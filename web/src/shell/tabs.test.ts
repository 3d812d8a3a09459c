// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { hintOf } from "./ScreenTabs";
import { TABS, tabScreen } from "./tabs";

const hint = (screen: string, count: number | null = null): string | null => {
  const tab = TABS.find((one) => one.screen === screen);
  if (!tab) throw new Error(`no tab ${screen}`);
  return hintOf(tab, count);
};

it("tells the count of a tab from its key, and repeats no label", () => {
  expect(hint("servers")).toBe("Servers · key 1");
  expect(hint("prompts", 4)).toBe("Prompts, 4 items · key 4");
  expect(hint("tools", 5000)).toBe("Tools, 5,000 items · key 2");
  expect(hint("gateway")).toBeNull();
  expect(hint("apps")).toBeNull();
});

it("the raw tester stands under Traffic, every other screen under its own tab", () => {
  const under = (screen: string): string => tabScreen({ server_id: "a", screen, item: null });
  expect(under("raw")).toBe("traffic");
  expect(under("tools")).toBe("tools");
});
