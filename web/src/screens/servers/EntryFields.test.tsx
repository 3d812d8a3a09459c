import { readFileSync } from "node:fs";
import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { EntryFields } from "./EntryFields";
import {
  type EntryForm,
  formOf,
  type RawEntry,
  rawOf,
  restoreForm,
  withoutSecrets,
} from "./serverEntry";

/** The keys of a server; the reference is checked against the code that reads the file. */
function documentedKeys(): string[] {
  const page = readFileSync("../docs/reference/config-file.md", "utf8");
  const [, section = ""] = page.split(/^## A server$/m);
  const table = section.split(/^## /m)[0] ?? "";
  return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, key]) => String(key));
}

/** Keys without a field, and why. */
const ELSEWHERE: Record<string, string> = {
  auth: "on the Auth screen",
  sessionMode: "for a gateway, which is set up in the file",
  singleton: "for a gateway of several replicas, which is set up in the file",
  capabilities: "on the server's own page, where they are tried out before they are kept",
  roots: "on the server's own page",
  profile: "on the server's own page",
};

/** A value for each key, and by what words it is seen in the form. */
const COMMAND: Record<string, [value: unknown, seen: string]> = {
  name: ["A title", "A title"],
  enabled: [false, "Enabled"],
  command: ["run-me", "run-me"],
  args: [["--fast"], "--fast"],
  env: [{ MODE: "eager" }, "eager"],
  envFile: ["some.env", "some.env"],
  inheritEnv: [true, "Pass the whole environment of mcplens"],
  cwd: ["/somewhere", "/somewhere"],
  protocolVersion: ["2025-06-18", "2025-06-18"],
  meta: [{ a: 7 }, '{ "a": 7 }'],
  secretKeys: [{ pin: "{PIN}" }, "{PIN}"],
  maxConcurrency: [3, "3"],
  maxMessageBytes: [4, "4"],
  connectionTimeout: [11, "11"],
  requestTimeout: [12, "12"],
  progressResetsTimeout: [false, "No"],
  maxTotalTimeout: [13, "13"],
  pingInterval: [14, "14"],
  maxRetries: [15, "15"],
  retryBackoff: [[16, 17], "16, 17"],
};
const URL: Record<string, [value: unknown, seen: string]> = {
  url: ["https://example.com/mcp", "https://example.com/mcp"],
  transport: ["sse", "HTTP + SSE (older)"],
  headers: [{ "X-Test": "probe" }, "probe"],
  caFile: ["ca.pem", "ca.pem"],
  insecure: [true, "Accept any certificate"],
};

/** With what is advanced open: it is not drawn before. */
function show(form: EntryForm): void {
  render(
    <MantineProvider env="test">
      <EntryFields
        form={form}
        server_id={null}
        errors={new Map()}
        nameProblem={null}
        isTrusting
        onChange={() => undefined}
      />
    </MantineProvider>,
  );
}

const rawWith = (samples: typeof URL): RawEntry =>
  Object.fromEntries(Object.entries(samples).map(([key, [value]]) => [key, value]));

describe("the form of a server", () => {
  it("knows every key of the file, but for those that stand elsewhere", () => {
    const known = [...Object.keys(COMMAND), ...Object.keys(URL), ...Object.keys(ELSEWHERE)];
    expect(known.sort()).toEqual(documentedKeys().sort());
  });
  it.each([
    ["a command", COMMAND],
    ["a URL", URL],
  ])("shows each of them for %s, and writes it back", (_, samples) => {
    const raw = rawWith(samples);
    const form = formOf("x", raw);
    expect(form.rest).toEqual({});
    expect(rawOf(form)).toEqual(raw);
    show(form);
    for (const [value, seen] of Object.values(samples)) {
      if (typeof value === "boolean" && seen !== "No") {
        const flag = screen.getByRole<HTMLInputElement>("switch", { name: seen, hidden: true });
        expect([seen, flag.checked]).toEqual([seen, value]);
      } else expect(screen.getAllByDisplayValue(seen)).not.toEqual([]);
    }
  });
  it("leaves alone what it cannot show", () => {
    const raw = {
      command: "x",
      insecure: false,
      inheritEnv: "{INHERIT}",
      maxConcurrency: "{MANY}",
      secretKeys: { pin: 1234 },
    };
    expect(rawOf(formOf("x", raw))).toEqual(raw);
  });
  it("takes a name of a secret without its value", () => {
    const names = { command: "x", secretKeys: ["pin", "code"] };
    const form = formOf("x", names);
    expect(rawOf(form)).toEqual(names);
    form.secretKeys = [
      ["pin", "{PIN}"],
      ["code", ""],
    ];
    expect(rawOf(form).secretKeys).toEqual({ pin: "{PIN}", code: null });
  });
  it("keeps no value of a secret, and takes what an older page kept", () => {
    const entry = formOf("x", { command: "x", secretKeys: { pin: "s3cret" } });
    const kept = withoutSecrets(entry, entry);
    expect(JSON.stringify(kept)).not.toContain("s3cret");
    expect(restoreForm(kept, entry)).toEqual(entry);
    const { secretKeys: _, caFile: __, ...older } = kept;
    expect(restoreForm(older as EntryForm, entry)).toEqual(entry);
  });
  it("opens where a certificate is trusted for who came for that", () => {
    show(formOf("x", { url: "https://a" }));
    expect(screen.getByLabelText("Certificates to trust")).toBe(document.activeElement);
  });
});
