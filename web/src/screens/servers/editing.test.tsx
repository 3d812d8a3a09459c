import { MantineProvider } from "@mantine/core";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { CommandError } from "../../api/socket";
import type { EntryView } from "../../api/types";
import { command } from "../../state/commands";
import { ServerDialog } from "./ServerDialog";

vi.mock("../../state/commands");

const MASK = "‹masked, 6 characters›";
const ENTRY: EntryView = {
  raw: { command: "run-me", env: { API_TOKEN: MASK, LOG_LEVEL: "debug" } },
  secrets: [{ key: "env", name: "API_TOKEN" }],
};

const asked: [string, Record<string, unknown>][] = [];
let refused: { key: string; text: string }[] | null = null;

async function answer(type: string, fields: Record<string, unknown>): Promise<object> {
  asked.push([type, fields]);
  if (type === "ServerEntryOf") return ENTRY;
  if (type === "RevealSecret") return { value: "s3cret" };
  if (refused)
    throw new CommandError({
      code: "CONFIGURATION_INVALID",
      message: "refused",
      category: "connection",
      retryable: false,
      details: { fields: refused },
      helpUrl: "/docs/errors/configuration-invalid",
    });
  return { path: "mcp.json", backup: null, servers: ["mine"] };
}

const saved = () => asked.filter(([type]) => type === "ServerEdit").map(([, fields]) => fields.raw);
const click = (name: string) => userEvent.click(screen.getByRole("button", { name }));

beforeEach(async () => {
  asked.length = 0;
  refused = null;
  vi.mocked(command).mockImplementation(answer as never);
  render(
    <MantineProvider env="test">
      <ServerDialog edited={{ server_id: "mine", isCopy: false }} onClose={() => undefined} />
    </MantineProvider>,
  );
  await screen.findByDisplayValue("run-me");
});

describe("the values of a server's form", () => {
  it("are edited as they are, and a secret that nobody touched stays", async () => {
    const level = screen.getByDisplayValue("debug");
    await userEvent.type(level, "2");
    await click("Save");
    expect(saved()).toEqual([{ command: "run-me", env: { API_TOKEN: MASK, LOG_LEVEL: "debug2" } }]);
  });
  it("keep a secret whose name is changed", async () => {
    const name = screen.getByDisplayValue("API_TOKEN");
    await userEvent.clear(name);
    await userEvent.type(name, "TOKEN");
    await click("Save");
    expect(asked.find(([type]) => type === "ServerEdit")?.[1]).toMatchObject({
      raw: { env: { TOKEN: MASK } },
      saved: { env: { TOKEN: "API_TOKEN" } },
    });
  });
  it("have a secret that is kept or replaced", async () => {
    expect(screen.getByDisplayValue<HTMLInputElement>(MASK).readOnly).toBe(true);
    await click("Replace");
    expect(screen.getByText(/Type the new value of API_TOKEN/)).toBeTruthy();
    await click("Keep the saved value");
    expect(screen.getByDisplayValue(MASK)).toBeTruthy();
    await click("Replace");
    await userEvent.type(screen.getByLabelText("Value of variable 1"), "n3w");
    await click("Save");
    expect(saved()).toEqual([{ command: "run-me", env: { API_TOKEN: "n3w", LOG_LEVEL: "debug" } }]);
  });
  it("reveal a secret only after a question, and keep it nowhere", async () => {
    await click("Reveal");
    expect(asked.map(([type]) => type)).not.toContain("RevealSecret");
    await click("Show");
    expect(await screen.findByDisplayValue("s3cret")).toBeTruthy();
    expect(asked.at(-1)).toEqual([
      "RevealSecret",
      { server_id: "mine", key: "env", name: "API_TOKEN" },
    ]);
    await userEvent.type(screen.getByDisplayValue("debug"), "2");
    expect(JSON.stringify({ ...sessionStorage, ...localStorage })).not.toContain("s3cret");
    await click("Hide");
    expect(screen.queryByDisplayValue("s3cret")).toBeNull();
    await click("Save");
    expect(JSON.stringify(saved())).not.toContain("s3cret");
  });
});

describe("what the backend refuses", () => {
  const invalid = () =>
    [...document.querySelectorAll<HTMLInputElement>('[aria-invalid="true"]')].map(
      (one) => one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? "",
    );

  it("is marked at its field, until that is changed", async () => {
    refused = [
      { key: "env.LOG_LEVEL", text: "must be a string" },
      { key: "maxConcurrency", text: "must be 1 or more" },
    ];
    await click("Save");
    expect(await screen.findByText("must be a string")).toBeTruthy();
    // It is among the advanced fields, which open for it.
    expect(screen.getByText("must be 1 or more")).toBeTruthy();
    expect(invalid()).toEqual(["Value of variable 2", "Requests at once"]);
    expect(document.activeElement).toBe(screen.getByDisplayValue("debug"));
    expect(screen.getByText(/change the 2 marked fields/)).toBeTruthy();
    expect(screen.queryByRole("alert")).toBeNull();
    await userEvent.type(screen.getByDisplayValue("debug"), "2");
    expect(invalid()).toEqual(["Requests at once"]);
  });
  it("is told below where the form has no field for it", async () => {
    refused = [{ key: "auth.clientId", text: "must be a string" }];
    await click("Save");
    expect(within(await screen.findByRole("alert")).getByText("Not saved")).toBeTruthy();
  });
});
