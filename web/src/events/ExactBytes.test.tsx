import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import type { WholeEvent } from "../api/types";
import { command } from "../state/commands";
import { anEvent } from "../testing/views";
import { FrameText } from "./FrameText";

vi.mock("../state/commands");

const asked: [string, unknown][] = [];
let problem: string | null = null;

beforeEach(() => {
  asked.length = 0;
  problem = null;
  vi.mocked(command).mockImplementation(async (type, fields) => {
    asked.push([type, fields]);
    if (problem !== null) throw new Error(problem);
    return { base64: btoa('{"token":"s3cret"}') } as never;
  });
});

const aFrame = (part: Partial<WholeEvent> = {}): WholeEvent => ({
  event: anEvent({ seq: 3 }),
  text: '{"token":"******"}',
  text_is_cut: false,
  masked: [{ field: "message", start: 10, end: 16, key: "token" }],
  has_exact: true,
  ...part,
});

const framed = (whole: WholeEvent) => (
  <MantineProvider env="test">
    <FrameText whole={whole} label="Message" />
  </MantineProvider>
);
const click = (name: string) => userEvent.click(screen.getByRole("button", { name }));
const shown = () => document.body.textContent ?? "";

it("exact bytes are shown after a question, until they are hidden", async () => {
  render(framed(aFrame()));
  await click("Show exact bytes");
  await click("Cancel");
  await click("Show exact bytes");
  expect(asked).toEqual([]);
  await click("Show");
  await vi.waitFor(() => expect(shown()).toContain("s3cret"));
  expect(asked).toEqual([["RevealBytes", { run_id: "run", seq: 3 }]]);
  expect(JSON.stringify({ ...sessionStorage, ...localStorage })).not.toContain("s3cret");
  await click("Hide");
  expect(shown()).not.toContain("s3cret");
  expect(shown()).toContain("******");
});

it("exact bytes are gone when another message is shown", async () => {
  const { rerender } = render(framed(aFrame()));
  await click("Show exact bytes");
  await click("Show");
  await vi.waitFor(() => expect(shown()).toContain("s3cret"));
  rerender(framed(aFrame({ event: anEvent({ seq: 4 }) })));
  expect(shown()).not.toContain("s3cret");
  rerender(framed(aFrame()));
  expect(shown()).not.toContain("s3cret");
});

it("exact bytes that are not in memory are not offered", () => {
  render(framed(aFrame({ has_exact: false })));
  expect(screen.getByText("The exact bytes were not recorded.")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Show exact bytes" })).toBeNull();
});

it("exact bytes that left the memory meanwhile are not shown, and the view says so", async () => {
  problem = "The exact bytes were not recorded.";
  render(framed(aFrame()));
  await click("Show exact bytes");
  await click("Show");
  expect(await screen.findByText(problem)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Show exact bytes" })).toBeNull();
});

it("a message without masks has nothing to reveal", () => {
  render(framed(aFrame({ masked: [{ field: "headers.Authorization" }] })));
  expect(screen.queryByRole("button", { name: "Show exact bytes" })).toBeNull();
  expect(shown()).not.toContain("not recorded");
});
