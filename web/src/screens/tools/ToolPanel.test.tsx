import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, it, vi } from "vitest";
import { emptyInspector, useInspector } from "../../state/store";
import { aCall, aServer } from "../../testing/views";
import { ToolPanel } from "./ToolPanel";

const drawn = vi.hoisted(() => vi.fn());
vi.mock("../../state/commands", () => ({ command: async () => [], startCall: vi.fn() }));
vi.mock("../../calls/ResultView", () => ({
  ResultView: () => {
    drawn();
    return <p>The result</p>;
  },
}));
vi.mock("../../forms/ArgumentsEditor", () => ({
  NO_ARGUMENTS: { text: null, mode: "form" },
  ArgumentsEditor: ({ value, onChange }: { value: object; onChange(value: object): void }) => (
    <input
      aria-label="Arguments"
      onChange={(event) => onChange({ ...value, text: event.currentTarget.value })}
    />
  ),
}));

it("draws the result once, whatever is typed beside it", () => {
  const calls = new Map([["c1", aCall({ is_error: true })]]);
  useInspector.setState({ ...emptyInspector(), calls });
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <ToolPanel server={aServer()} tool={{ name: "add" }} itemKey="add" problem={null} />
      </MemoryRouter>
    </MantineProvider>,
  );
  const before = drawn.mock.calls.length;
  expect(before).toBeGreaterThan(0);
  for (const value of ["{", '{"a":1', '{"a":1}'])
    fireEvent.change(screen.getByLabelText("Arguments"), { target: { value } });
  expect(sessionStorage.getItem("mcplens.draft.tool.demo/add")).toContain('\\"a\\":1}');
  expect(drawn).toHaveBeenCalledTimes(before);
  // There is nothing to choose from.
  expect(screen.getByText("1 call").tagName).toBe("SPAN");
});
