import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { ServerView } from "../../api/types";
import { emptyInspector, useInspector } from "../../state/store";
import { aServer } from "../../testing/views";
import { ServerLevelSelect } from "./LogToolbar";

const logging = { capabilities: { logging: {} } };
const cases: [what: string, server: Partial<ServerView>, value: string, placeholder: string][] = [
  ["has a level", { ...logging, log_level: "error" }, "error", "not set"],
  ["has none yet", logging, "", "not set"],
  ["did not declare logging", {}, "", "no logging"],
  ["is not connected", { state: "DISCONNECTED" }, "", "unknown"],
];

it.each(cases)("has the same label where the server %s", (_, server, value, placeholder) => {
  useInspector.setState({ ...emptyInspector(), servers: new Map([["demo", aServer(server)]]) });
  render(
    <MantineProvider env="test">
      <ServerLevelSelect serverId="demo" />
    </MantineProvider>,
  );
  expect(screen.getByText("Server level")).toBeTruthy();
  const field = screen.getByRole<HTMLInputElement>("combobox");
  expect([field.value, field.placeholder]).toEqual([value, placeholder]);
});
