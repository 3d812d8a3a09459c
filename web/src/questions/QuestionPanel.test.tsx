import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import * as http from "../api/http";
import { CommandError } from "../api/socket";
import type { QuestionView } from "../api/types";
import { command } from "../state/commands";
import { QuestionPanel } from "./QuestionPanel";

vi.mock("../state/commands");

const given = vi.mocked(command);

function ask(params: unknown, profile: string | null = null, more = {}): void {
  const question = {
    question_id: "demo/sampling-1",
    server_id: "demo",
    method: "sampling/createMessage",
    mode: null,
    opened: 1,
    deadline: null,
    round: null,
    link: null,
    profile,
    params,
    ...more,
  } as unknown as QuestionView;
  render(
    <MantineProvider>
      <QuestionPanel question={question} />
    </MantineProvider>,
  );
}

const refuse = (code: string, details: Record<string, unknown>): void => {
  const view = {
    code,
    message: "no",
    category: "protocol",
    retryable: false,
    details,
    helpUrl: "",
  };
  given.mockRejectedValueOnce(new CommandError(view as never));
};

const say = (text: string): boolean =>
  fireEvent.change(screen.getByRole("textbox", { name: /^Response/ }), { target: { value: text } });
const press = (name: string): boolean => fireEvent.click(screen.getByRole("button", { name }));

describe("what was not sent", () => {
  beforeEach(() => {
    given.mockResolvedValue(null as never);
  });

  it("is sent anyway where only its rules are broken, by a profile too", async () => {
    ask({ messages: [], toolChoice: { mode: "required" } });
    refuse("INVALID_ANSWER", { findings: ["model is missing"] });
    press("Auto-respond (auto)");
    fireEvent.click(await screen.findByRole("button", { name: "Send anyway" }));
    const fields = { question_id: "demo/sampling-1", profile: "auto" };
    // No tool choice: there is no tool to choose.
    expect(given.mock.calls).toEqual([
      ["AutoRespond", { ...fields, options: { force: false } }],
      ["AutoRespond", { ...fields, options: { force: true } }],
    ]);
  });
  it("is never an older answer than the one that is shown", async () => {
    ask({ messages: [] });
    say("4");
    refuse("INVALID_ANSWER", { findings: ["stopReason"] });
    press("Edit & Send");
    await screen.findByRole("button", { name: "Send anyway" });
    const type = (model: string): boolean =>
      fireEvent.change(screen.getByLabelText("Model"), { target: { value: model } });
    type("second");
    expect(screen.queryByRole("button", { name: "Send anyway" })).toBeNull();
    expect(screen.queryByText("The answer was not sent")).toBeNull();
    // Edited while it is on its way: the refusal is told, but is about another answer.
    refuse("INVALID_ANSWER", { findings: ["stopReason"] });
    press("Edit & Send");
    type("third");
    await screen.findByText("The answer was not sent");
    expect(screen.queryByRole("button", { name: "Send anyway" })).toBeNull();
    refuse("INVALID_ANSWER", { findings: ["stopReason"] });
    press("Edit & Send");
    fireEvent.click(await screen.findByRole("button", { name: "Send anyway" }));
    const [, fields, raw] = given.mock.calls.at(-1) ?? [];
    expect(fields).toMatchObject({ force: true });
    expect(JSON.parse(raw?.result ?? "")).toMatchObject({ model: "third" });
  });
  it.each([
    ["Reject", "QUESTION_GONE", {}],
    ["Edit & Send", "QUESTION_GONE", {}],
    ["Auto-respond (auto)", "INVALID_ANSWER", {}],
    ["Auto-respond (auto)", "INVALID_REQUEST", {}],
  ])("cannot be forced after %s fails with %s", async (button, code, details) => {
    ask({ messages: [] });
    say("4");
    refuse(code, details);
    press(button);
    await screen.findByText("The answer was not sent");
    expect(screen.queryByRole("button", { name: "Send anyway" })).toBeNull();
  });
});

it("an empty response is sent only by who says so", () => {
  given.mockResolvedValue(null as never);
  ask({ messages: [] });
  expect(screen.queryByRole("button", { name: "Send empty" })).toBeNull();
  press("Edit & Send");
  expect(given).not.toHaveBeenCalled();
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: /^Response/ }));
  expect(screen.getByText("The response is empty.")).toBeTruthy();
  press("Send empty");
  const [name, , raw] = given.mock.calls.at(-1) ?? [];
  expect(name).toBe("AnswerSampling");
  expect(JSON.parse(raw?.result ?? "").content).toEqual({ type: "text", text: "" });
});

describe("Auto-respond", () => {
  it.each([
    [null, "Auto-respond (auto)", "auto"],
    ["manual", "Auto-respond (auto)", "auto"],
    ["echo", "Auto-respond", "echo"],
  ])("names who answers where %s is shown", (shown, label, profile) => {
    given.mockResolvedValue(null as never);
    ask({ messages: [] }, shown);
    press(label);
    expect(given).toHaveBeenCalledWith("AutoRespond", expect.objectContaining({ profile }));
  });
});

describe("a number that a browser cannot hold", () => {
  const asked = '{"messages": [], "maxTokens": 12345678901234567890}';
  it("is shown as it was written", async () => {
    const fetchParams = vi.spyOn(http, "fetchParams").mockResolvedValue(asked);
    ask(JSON.parse(asked));
    expect(await screen.findByText("12345678901234567890")).toBeTruthy();
    expect(fetchParams).toHaveBeenCalledWith("demo/sampling-1");
  });
  it("is said to be rounded where that cannot be had", async () => {
    vi.spyOn(http, "fetchParams").mockRejectedValue(new Error("gone"));
    ask(JSON.parse(asked));
    fireEvent.click(screen.getByText("Whole request"));
    expect(await screen.findByText("Large numbers may be rounded here.")).toBeTruthy();
  });
});

it("thousands of messages are drawn in pieces", () => {
  const message = { role: "user", content: { type: "text", text: "again" } };
  ask({ messages: Array(3000).fill(message) });
  expect(screen.getAllByText("again")).toHaveLength(100);
  expect(screen.getByText("2,900 more messages")).toBeTruthy();
  fireEvent.click(screen.getByText("Show 100 more"));
  expect(screen.getByText("2,800 more messages")).toBeTruthy();
});

it.each([
  ["sampling/createMessage", null, "an error is sent in"],
  ["elicitation/create", 1, "cancelled in"],
  ["sampling/createMessage", 1, "its call fails in"],
])("says what happens to %s of round %s that nobody answers", (method, round, words) => {
  ask({ messages: [] }, null, { method, round, deadline: Date.now() / 1000 + 60 });
  expect(screen.getByText(/if unanswered/).textContent).toMatch(words);
});
