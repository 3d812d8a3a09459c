import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { CommandError } from "../../api/socket";
import { command } from "../../state/commands";
import { SettingField } from "./SettingField";

vi.mock("../../state/commands");

it("says at a setting's field that it was refused, and keeps what was typed", async () => {
  vi.mocked(command).mockRejectedValue(
    new CommandError({
      code: "CONFIGURATION_INVALID",
      message: "taskTtlSeconds: must be 1 or more",
      category: "connection",
      retryable: false,
      details: { fields: [{ key: "taskTtlSeconds", text: "must be 1 or more" }] },
      helpUrl: "/docs/errors/configuration-invalid",
    }),
  );
  const setting = {
    name: "taskTtlSeconds",
    description: "",
    value: 60,
    default: 60,
    source: "default",
    is_editable: true,
    note: null,
    choices: [],
  };
  render(
    <MantineProvider>
      <SettingField setting={setting} />
    </MantineProvider>,
  );
  const field = screen.getByRole<HTMLInputElement>("textbox");
  await userEvent.clear(field);
  await userEvent.type(field, "0");
  await userEvent.tab();
  expect(await screen.findByText("Not saved: must be 1 or more")).toBeTruthy();
  expect([field.value, field.getAttribute("aria-invalid")]).toEqual(["0", "true"]);
});

it("offers the values of a setting that has few", async () => {
  vi.mocked(command).mockResolvedValue(null);
  const setting = {
    name: "logLevel",
    description: "",
    value: "info",
    default: "info",
    source: "default",
    is_editable: true,
    note: null,
    choices: ["debug", "info", "off"],
  };
  render(
    <MantineProvider env="test">
      <SettingField setting={setting} />
    </MantineProvider>,
  );
  await userEvent.click(screen.getByRole("combobox"));
  await userEvent.click(screen.getByRole("option", { name: "off" }));
  expect(command).toHaveBeenLastCalledWith("SetSetting", { name: "logLevel", value: "off" });
});
