import { MantineProvider } from "@mantine/core";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CommandError } from "../api/socket";
import type { CompletionView } from "../api/types";
import { command } from "../state/commands";
import { aServer } from "../testing/views";
import { CompletionField } from "./CompletionField";
import { remainingLabel } from "./useCompletions";

vi.mock("../state/commands");

const asked = vi.mocked(command);
const server = aServer({ capabilities: { completions: {} } });
const reply = (values: string[], part: Partial<CompletionView> = {}): CompletionView => ({
  values,
  total: null,
  has_more: false,
  ...part,
});

function Field({ more = {} }: { more?: Record<string, string> }) {
  const [value, setValue] = useState("");
  return (
    <MantineProvider env="test">
      <CompletionField
        server={server}
        reference={{ type: "ref/prompt", name: "p" }}
        name="who"
        title="Whom"
        values={{ ...more, who: value }}
        onChange={setValue}
      />
    </MantineProvider>
  );
}

const field = (): HTMLElement => screen.getByLabelText(/Whom/);
const type = async (value: string): Promise<void> => {
  fireEvent.change(field(), { target: { value } });
  await act(() => vi.advanceTimersByTimeAsync(300));
};
const offered = (): (string | null)[] =>
  screen.queryAllByRole("option", { hidden: true }).map((one) => one.textContent);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("suggestions", () => {
  it("are those for what is typed now, whichever answer comes last", async () => {
    const answers: ((found: CompletionView) => void)[] = [];
    asked.mockImplementation(() => new Promise((resolve) => answers.push(resolve as never)));
    render(<Field />);
    await type("a");
    await type("ab");
    await act(async () => answers[1]?.(reply(["abc"])));
    await act(async () => answers[0]?.(reply(["ax", "ay"])));
    expect(offered()).toEqual(["abc"]);
  });
  it("are asked for with the other arguments that have a value", async () => {
    asked.mockResolvedValue(reply([]));
    render(<Field more={{ full: "x", empty: "" }} />);
    await type("a");
    expect(asked).toHaveBeenCalledWith(
      "Complete",
      expect.objectContaining({ argument: "who", value: "a", context: { full: "x" } }),
    );
  });
  it("that fail say why, until the next ones come", async () => {
    const error = { code: "X", message: "no idea", category: "server", details: {}, helpUrl: "" };
    asked.mockRejectedValueOnce(new CommandError(error as never));
    render(<Field />);
    await type("a");
    expect(screen.getByRole("status").textContent).toBe("No suggestions: no idea");
    asked.mockResolvedValueOnce(reply(["b1"], { total: 57 }));
    await type("b");
    expect(screen.queryByRole("status")).toBeNull();
    expect(screen.getByText("1 of 57")).toBeTruthy();
  });
  it("go when it is run, which takes none of them, and by Escape", async () => {
    asked.mockResolvedValue(reply(["anna", "anton"]));
    render(<Field />);
    for (const key of [{ key: "Enter", code: "Enter", ctrlKey: true }, { key: "Escape" }]) {
      await type("an");
      fireEvent.keyDown(field(), { key: "ArrowDown", code: "ArrowDown" });
      expect(field().getAttribute("aria-expanded")).toBe("true");
      fireEvent.keyDown(field(), key);
      expect(field().getAttribute("aria-expanded")).toBe("false");
      expect(field()).toHaveProperty("value", "an");
      await type("");
    }
  });
  it("are shown unless the only one is typed already", async () => {
    asked.mockResolvedValue(reply(["anna"]));
    render(<Field />);
    const isHidden = () => screen.getByRole("option").closest("[data-hidden]") !== null;
    await type("anna");
    expect(isHidden()).toBe(true);
    await type("ann");
    expect(isHidden()).toBe(false);
  });
  it("say how much more there is", () => {
    expect(remainingLabel(reply(["a"]))).toBeNull();
    expect(remainingLabel(reply(["a"], { total: 1 }))).toBeNull();
    expect(remainingLabel(reply(["a"], { total: 9, has_more: true }))).toBe("1 of 9");
    expect(remainingLabel(reply(["a"], { has_more: true }))).toBe("The first 1; there are more");
  });
});

it("a field with a title has its name beside it", () => {
  render(<Field />);
  expect(screen.getByText("who").closest(".mono")).toBeTruthy();
});
