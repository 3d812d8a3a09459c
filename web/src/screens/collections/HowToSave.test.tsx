import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { SaveCallButton } from "../../calls/SaveCallButton";
import { command } from "../../state/commands";
import { aCall } from "../../testing/views";
import { HowToSave } from "./HowToSave";

vi.mock("../../state/commands");

it("how to save a call names the button as it is named beside a result", () => {
  vi.mocked(command).mockResolvedValue([] as never);
  render(
    <MantineProvider env="test">
      <p>
        <HowToSave />
      </p>
      <SaveCallButton call={aCall()} />
    </MantineProvider>,
  );
  const name = screen.getByRole("button").getAttribute("aria-label");
  expect(name).toBe("Save this call");
  expect(screen.getByRole("paragraph").textContent).toBe(
    `Make a call and press  ${name} beside its result.`,
  );
});
