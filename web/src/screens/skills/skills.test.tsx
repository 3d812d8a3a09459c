import { MantineProvider } from "@mantine/core";
import { act, fireEvent, render, screen, within } from "@testing-library/react";
import { Link, MemoryRouter } from "react-router";
import { expect, it, vi } from "vitest";
import type { FileVerdict, SkillFileView, SkillListView, SkillView } from "../../api/types";
import { isTabShown, TABS } from "../../shell/tabs";
import { command } from "../../state/commands";
import { emptyInspector, useInspector } from "../../state/store";
import { aServer } from "../../testing/views";
import { Skills } from "./Skills";
import { statusOfSkill } from "./skillStatus";

vi.mock("../../state/commands");

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
        <Link to={`/s/other/skills/${encodeURIComponent(URI)}`}>The other server</Link>
        <Skills />
      </MemoryRouter>
    </MantineProvider>,
  );
}

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

it("says how skills/get differs from skills/list", async () => {
  show(aSkill(), URI);
  const differences = [
    {
      ...aFinding,
      is_error: false,
      text: "description differs",
      expected: '"Old"',
      actual: '"New"',
    },
  ];
  sent.mockResolvedValue({ got: aSkill(), is_listed: true, differences });
  fireEvent.click(await screen.findByRole("button", { name: "Compare with skills/get" }));
  const note = await screen.findByRole("note");
  expect(note.textContent).toBe(
    'skills/get differs from skills/list:description differs: "Old" → "New"',
  );
});

it("says that there is no such skill only if the server said so", async () => {
  show(aSkill(), "skill://a/none/SKILL.md");
  const list = sent.getMockImplementation();
  sent.mockImplementation((type, fields) =>
    type === "GetSkill" ? Promise.reject(new Error("lost")) : (list?.(type, fields) as never),
  );
  expect(await screen.findByText("The server could not be asked for this skill")).toBeTruthy();
  expect(screen.getByRole("link", { name: "All skills" })).toBeTruthy();
});

it("takes nothing that one server answers for a skill of another with the same URI", async () => {
  let answer: (reply: unknown) => void = () => {};
  const waiting = new Promise<unknown>((resolve) => {
    answer = resolve;
  });
  show(aSkill(), URI);
  const other = aServer({ server_id: "other", state: "CONNECTED", capabilities: DECLARED });
  act(() =>
    useInspector.setState(({ servers }) => ({ servers: new Map(servers).set("other", other) })),
  );
  await screen.findByRole("heading", { name: "notes" });
  sent.mockReturnValueOnce(waiting as never);
  fireEvent.click(screen.getByRole("button", { name: "Verify" }));
  fireEvent.click(screen.getByRole("link", { name: "The other server" }));
  await screen.findByText("Skills of other");
  await screen.findByRole("heading", { name: "notes" });
  await act(async () => answer({ verdicts: [aVerdict()] }));
  expect(
    within(screen.getByRole("table", { name: "Manifest" })).queryByText("as listed"),
  ).toBeNull();
  sent.mockResolvedValueOnce({ verdicts: [aVerdict()] } as never);
  fireEvent.click(screen.getByRole("button", { name: "Verify" }));
  expect(await screen.findByText("as listed")).toBeTruthy();
});

it("tells of a skill what is worst about it", () => {
  const none = new Map();
  expect(statusOfSkill(aSkill(), none)).toBeNull();
  expect(statusOfSkill(aSkill({ problem: "x" }), none)?.text).toBe("broken entry");
  expect(statusOfSkill(aSkill({ is_dynamic: true, files: [] }), none)?.text).toBe("dynamic");
  const right = new Map([["a", aVerdict()]]);
  expect(statusOfSkill(aSkill(), right)).toEqual({ tone: "good", text: "as listed" });
  const warned = aSkill({
    findings: [{ ...aFinding, is_error: false, text: "another is named so" }],
  });
  expect(statusOfSkill(warned, right)).toEqual({ tone: "wait", text: "as listed, 1 warning" });
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
