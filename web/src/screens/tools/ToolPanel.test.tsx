import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, it, vi } from "vitest";
import * as result from "../../calls/ResultView";
import * as editor from "../../forms/ArgumentsEditor";
import { command } from "../../state/commands";
import { emptyInspector, useInspector } from "../../state/store";
import { aCall, aServer } from "../../testing/views";
import { ToolPanel } from "./ToolPanel";

vi.mock("../../state/commands");

it("draws the result once, whatever is typed beside it", () => {
  vi.mocked(command).mockResolvedValue([] as never);
  const drawn = vi.spyOn(result, "ResultView").mockReturnValue(<p>The result</p>);
  vi.spyOn(editor, "ArgumentsEditor").mockImplementation(({ value, onChange }) => (
    <input
      aria-label="Arguments"
      onChange={(event) => onChange({ ...value, text: event.currentTarget.value })}
    />
  ));
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
});
