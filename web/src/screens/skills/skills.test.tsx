import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen, within } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { beforeEach, expect, it, vi } from "vitest";
import type { FileVerdict, SkillFileView, SkillListView, SkillView } from "../../api/types";
import { isTabShown, TABS } from "../../shell/tabs";
import { command } from "../../state/commands";
import { emptyInspector, useInspector } from "../../state/store";
import { aServer } from "../../testing/views";
import { Skills } from "./Skills";
import { statusOfSkill } from "./skillStatus";

vi.mock("../../state/commands", () => ({ command: vi.fn() }));

const sent = vi.mocked(command);
const URI = "skill://a/notes/SKILL.md";
const DECLARED = { extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } } };

const aSkill = (part: Partial<SkillView> = {}): SkillView => ({
  uri: URI,
  name: "notes",
  description: "Takes notes.",
  directory: "skill://a/notes",
  frontmatter: { name: "notes", beta: true },
  files: [{ uri: URI, digest: `sha256:${"a".repeat(64)}`, size: 10 }],
  size_bytes: 10,
  is_dynamic: false,
  problem: null,
  findings: [],
  requests: ['allowed-tools: "Bash"'],
  fetched: Date.now() / 1000,
  ttl_ms: null,
  cache_scope: null,
  value: {},
  ...part,
});

const aVerdict = (part: Partial<FileVerdict> = {}): FileVerdict => ({
  skill: URI,
  uri: URI,
  path: "SKILL.md",
  status: "verified",
  expected_size: 10,
  expected_digest: `sha256:${"a".repeat(64)}`,
  size: 10,
  digest: `sha256:${"a".repeat(64)}`,
  findings: [],
  ...part,
});

const aFinding = {
  check: "frontmatter",
  is_error: true,
  cause: "",
  uri: URI,
  expected: "",
  actual: "",
};

function show(skill: SkillView, item = ""): void {
  const list: SkillListView = {
    server_id: "demo",
    skills: [skill],
    fetched: 1,
    cut: null,
    findings: [],
  };
  const file: SkillFileView = {
    verdict: aVerdict({
      status: "mismatch",
      findings: [{ ...aFinding, text: "beta is “yes” in the file" }],
    }),
    mime_type: "text/markdown",
    text: "---\nname: notes\nbeta: yes\n---\n# Body\n",
    is_cut: false,
    body: "# Body\n",
    front_matter: { name: "notes", beta: "yes" },
    hidden: [{ kind: "comment", line: 3, column: 1, text: "secret" }],
  };
  sent.mockImplementation(async (type) =>
    type === "ListSkills" ? list : type === "CheckSkillFile" ? file : { verdicts: [] },
  );
  const server = aServer({ server_id: "demo", state: "CONNECTED", capabilities: DECLARED });
  useInspector.setState({ ...emptyInspector(), run_id: "r", servers: new Map([["demo", server]]) });
  render(
    <MantineProvider>
      <MemoryRouter initialEntries={[`/s/demo/skills${item && `/${encodeURIComponent(item)}`}`]}>
        <Skills />
      </MemoryRouter>
    </MantineProvider>,
  );
}

beforeEach(() => {
  sent.mockReset();
});

it("lists skills and reads nothing of them", async () => {
  show(aSkill(), URI);
  expect(await screen.findByRole("heading", { name: "notes" })).toBeTruthy();
  expect(
    within(screen.getByRole("region", { name: "Requested, ignored" })).getByText(/Bash/),
  ).toBeTruthy();
  expect(sent.mock.calls.map(([type]) => type)).toEqual(["ListSkills"]);
});

it("reads a file when its name is pressed, and says why it must not be used", async () => {
  show(aSkill(), URI);
  fireEvent.click(await screen.findByRole("button", { name: "SKILL.md" }));
  expect(await screen.findByText("beta is “yes” in the file")).toBeTruthy();
  expect(screen.getByText(/must not use this file/)).toBeTruthy();
  expect(screen.getByText("secret")).toBeTruthy();
  fireEvent.click(screen.getByRole("radio", { name: "Front matter" }));
  const row = screen.getByRole("row", { name: /beta/ });
  expect(within(row).getByText("differs")).toBeTruthy();
});

it("tells of a skill what is worst about it", () => {
  const none = new Map();
  expect(statusOfSkill(aSkill(), none)).toBeNull();
  expect(statusOfSkill(aSkill({ problem: "x" }), none)?.text).toBe("broken entry");
  expect(statusOfSkill(aSkill({ is_dynamic: true, files: [] }), none)?.text).toBe("dynamic");
  const right = new Map([["a", aVerdict()]]);
  expect(statusOfSkill(aSkill(), right)).toEqual({ tone: "good", text: "as listed" });
  const wrong = new Map([["a", aVerdict({ status: "mismatch" })]]);
  expect(statusOfSkill(aSkill(), wrong)).toEqual({ tone: "bad", text: "1 file differs" });
});

it("has a tab only for servers that declare skills", () => {
  const tab = TABS.find((one) => one.screen === "skills");
  if (!tab) throw new Error("no tab");
  const place = { server_id: "demo", screen: "tools", item: null };
  const shown = (capabilities: Record<string, unknown>, server_id: string): boolean =>
    isTabShown(tab, aServer({ server_id, state: "CONNECTED", capabilities }), place, false);
  expect(shown(DECLARED, "one")).toBe(true);
  expect(shown({ tools: {} }, "two")).toBe(false);
});
