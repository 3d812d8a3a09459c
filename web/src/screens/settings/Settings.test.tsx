import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import type { SettingView } from "../../api/types";
import { emptyInspector, useInspector } from "../../state/store";
import { Settings, shownDefault } from "./Settings";
import css from "./Settings.module.css";

const aSetting = (part: Partial<SettingView>): SettingView => ({
  name: "taskTtlSeconds",
  description: "",
  value: 60,
  default: 60,
  source: "default",
  is_editable: true,
  note: null,
  choices: [],
  ...part,
});

it("shows a default as its field does, a text without quotes", () => {
  expect(["info", 30, false, null, [], ["a"]].map(shownDefault)).toEqual([
    "info",
    "30",
    "false",
    "none",
    "none",
    '["a"]',
  ]);
});

it("leaves a default out on a phone where the field has the same value", () => {
  const settings = new Map([
    ["kept", aSetting({ name: "kept" })],
    ["changed", aSetting({ name: "changed", value: 90, source: "mcp.json" })],
  ]);
  useInspector.setState({ ...emptyInspector(), settings });
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <Settings />
      </MemoryRouter>
    </MantineProvider>,
  );
  const isRepeated = screen
    .getAllByText("60")
    .map((value) => value.closest("td")?.classList.contains(css.repeated ?? "repeated"));
  expect(isRepeated).toEqual([true, false]);
});
