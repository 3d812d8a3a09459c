import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { ListSummary } from "../api/types";
import type { List } from "../state/lists";
import { formatTime } from "../values/format";
import { findMissing, NotListed } from "./NotListed";

const SUMMARY: ListSummary = {
  kind: "tools",
  count: 0,
  fetched: 5,
  is_changed: false,
  error: null,
  pages: 1,
  next_cursor: null,
  asked: null,
  awaited: 0,
  has_apps: false,
};
const aList = (part: Partial<List> = {}, summary: Partial<ListSummary> = {}): List => ({
  items: [],
  count: 0,
  fetched: summary.fetched ?? 5,
  change: null,
  isLoading: false,
  error: null,
  isThere: true,
  summary: { ...SUMMARY, ...summary },
  ...part,
});

const ERROR = { code: "X", message: "no", category: "protocol", retryable: false, details: {} };
const error = { ...ERROR, helpUrl: "" } as ListSummary["error"];

it.each([
  ["nobody has asked for it", aList({ summary: null })],
  ["a page is waited for", aList({}, { asked: 4 })],
  ["there are more pages", aList({}, { next_cursor: "next" })],
  ["it is being loaded", aList({ isLoading: true })],
  ["this page has an older one", aList({ fetched: 3 })],
  ["some of it is still to be taken over", aList({}, { count: 7 })],
  ["it could not be fetched", aList({ error })],
])("nothing is said to be missing while %s", (_, list) => {
  expect(findMissing(list, "a tool", false)).toBeNull();
});

it("knows when something was removed that it had seen in the list", () => {
  expect(findMissing(aList(), "x", false)).toEqual({ since: null });
  expect(findMissing(aList(), "x", true)).toBeNull();
  expect(findMissing(aList({}, { fetched: 9 }), "x", false)).toEqual({ since: 9 });
  // It is not removed once more by a list that comes later.
  expect(findMissing(aList({}, { fetched: 12 }), "x", false)).toEqual({ since: 9 });
  expect(findMissing(aList({}, { fetched: 14 }), "x", true)).toBeNull();
});

it("says so, with the time if that is known", () => {
  const { rerender } = render(<NotListed missing={{ since: null }} />, {
    wrapper: MantineProvider,
  });
  const told = (): string | null => screen.getByRole("status").textContent;
  expect(told()).toBe("Not in the server's list. You can try it anyway.");
  rerender(<NotListed missing={{ since: 9 }} />);
  expect(told()).toContain(`It was removed at ${formatTime(9, false)}.`);
  rerender(<NotListed missing={null} />);
  expect(told()).toBe("");
});
