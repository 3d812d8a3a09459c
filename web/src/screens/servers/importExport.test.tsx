import { MantineProvider } from "@mantine/core";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import type { ExportView, FoundView, ServerExport } from "../../api/types";
import * as download from "../../components/download";
import { command } from "../../state/commands";
import { useInspector } from "../../state/store";
import { aServer } from "../../testing/views";
import { ExportServers } from "./ExportServers";
import { FoundServerList } from "./FoundServerList";

vi.mock("../../state/commands");

const exported = async (_: string, { shape }: ServerExport): Promise<ExportView> => ({
  text: shape,
  remarks:
    shape === "mcplens"
      ? []
      : [{ server: "mine", text: "VS Code has no equivalent of maxRetries" }],
  secret_count: 0,
});

beforeEach(() => {
  vi.mocked(command).mockImplementation(exported as never);
  const source = { kind: "mcplens", path: "x", scope: "user" };
  useInspector.setState({
    servers: new Map([["mine", aServer({ server_id: "mine", source })]]),
  });
});

const PATH = "/home/me/.claude.json";

function aFound(scope: string, part: Partial<FoundView> = {}): FoundView {
  return {
    name: "github",
    source: { kind: "claude-code", path: PATH, scope },
    transport: "stdio",
    shown: "x",
    command: ["x"],
    raw: { command: "x" },
    inputs: [],
    remarks: [],
    problem: null,
    problems: [],
    can_be_added: true,
    is_known: false,
    choices: [],
    choice: null,
    offer_id: null,
    tap: null,
    ...part,
  };
}

it("offers servers of one name apart, and says of each what is wrong", () => {
  const file = { key: "envFile", text: "its.env is missing", is_local: true, variable: null };
  const wrong = { key: "args", text: "must be an array", is_local: false, variable: null };
  render(
    <MantineProvider>
      <FoundServerList
        found={[
          aFound("user", { problems: [file] }),
          aFound("local", { problems: [wrong], can_be_added: false }),
        ]}
        nothing=""
        areChosen={false}
        again={() => Promise.resolve([])}
        onDone={() => undefined}
      />
    </MantineProvider>,
  );
  const box = (place: string) =>
    screen.getByRole<HTMLInputElement>("checkbox", { name: `github, claude-code, ${place}` });
  expect(box(`For you: ${PATH}`).disabled).toBe(false);
  expect(box(`For you, in this project: ${PATH}`).disabled).toBe(true);
  const [first, second] = screen.getAllByRole("group").map((one) => within(one));
  expect(first?.getByText("envFile: its.env is missing")).toBeTruthy();
  expect(first?.getByText("Something is missing")).toBeTruthy();
  expect(second?.getByText("args: must be an array")).toBeTruthy();
  expect(second?.getByText("It cannot be added")).toBeTruthy();
});

it("says before the download what a format cannot hold, by server and key", async () => {
  const downloaded = vi.spyOn(download, "downloadFile").mockReturnValue();
  render(
    <MantineProvider env="test">
      <ExportServers />
    </MantineProvider>,
  );
  await userEvent.click(screen.getByRole("button", { name: "Export" }));
  const dialog = await screen.findByRole("dialog");
  expect(within(dialog).queryByText("Not everything is in it")).toBeNull();
  await userEvent.click(within(dialog).getByRole("combobox", { name: "For" }));
  await userEvent.click(screen.getByRole("option", { name: "VS Code" }));
  expect(await within(dialog).findByText(/no equivalent of maxRetries/)).toBeTruthy();
  expect(downloaded).not.toHaveBeenCalled();
  await userEvent.click(within(dialog).getByRole("button", { name: "Download mcp.vscode.json" }));
  expect(downloaded.mock.calls.map(([text]) => text)).toEqual(["vscode"]);
});
