import { MantineProvider } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { CallView, SavedCallView } from "../api/types";
import { viewsOf } from "../components/RichText";
import { promptText } from "../content/promptText";
import { EventRing, ring } from "../state/events";
import { aCall, anEvent, aServer } from "../testing/views";
import { parseExactly } from "../values/exactJson";
import { CallActions } from "./CallActions";
import { CallFacts } from "./CallFacts";
import { CallPanel, panelModule } from "./CallPanel";
import { callStatus, findingsSummary, waitingFor } from "./callStatus";
import { asCommand, asCurl, asJsonRpc, asPython } from "./copyAs";
import { MalformedCount } from "./MalformedNotice";
import { ResultView } from "./ResultView";
import { contentKind } from "./resultContent";
import { suggestedName } from "./SaveCallButton";
import { hintOf } from "./SavedCallList";

beforeAll(() => panelModule.load());

const show = (result: unknown): void => {
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <ResultView call={aCall({ result })} />
      </MemoryRouter>
    </MantineProvider>,
  );
};

describe("a result of the wrong shape", () => {
  const cases: [unknown, string][] = [
    ["a string", "The result is a string; the protocol wants an object."],
    [[1], "The result is a list; the protocol wants an object."],
    [{ content: "just a string" }, "content is a string; the protocol wants a list."],
    [{ content: null }, "content is null; the protocol wants a list."],
    [{ contents: { a: 1 } }, "contents is an object; the protocol wants a list."],
    [{ messages: 5 }, "messages is a number; the protocol wants a list."],
    [{ content: [null] }, "This content item is null; the protocol wants an object."],
    [{ content: [5] }, "This content item is a number; the protocol wants an object."],
    [{ content: [{ type: "text" }] }, "The text is missing; the protocol wants a string."],
    [{ content: [{ type: "text", text: {} }] }, "The text is an object; the protocol wants"],
    [{ content: [{ type: "image", data: 3 }] }, "The data is a number; the protocol wants"],
    [{ content: [{ type: "resource" }] }, "The resource is missing; the protocol wants an object."],
    [{ content: [{ type: "resource_link", uri: 1 }] }, "The uri is a number; the protocol wants"],
    [{ content: [{}] }, "no type"],
    [{ content: [{ type: { a: 1 } }] }, '{"a":1}'],
    [{ content: [{ type: "text", text: "x", annotations: "loud" }] }, "annotations: loud"],
    [{ contents: [null] }, "The resource is null; the protocol wants an object."],
    [{ contents: [{ uri: {}, mimeType: [] }] }, "neither a text nor a blob"],
    [{ messages: [null] }, "This message is null; the protocol wants an object."],
    [{ messages: [{ role: {}, content: null }] }, "This content item is null"],
  ];
  it.each(cases)("%j is shown with what is wrong about it", (result, words) => {
    show(result);
    expect(screen.getByText(words, { exact: false })).toBeTruthy();
  });
});

describe("what is wrong with structured content", () => {
  const BREACH = "structuredContent breaks the output schema: a: must be a number";
  it.each<[string[], CallView["schema_verdict"], boolean, string]>([
    [[], null, false, "no output schema"],
    [["unusual JSON: NaN"], null, false, "no output schema"],
    [["unusual JSON: NaN"], null, true, "matches the output schema"],
    [["unusual JSON: NaN", BREACH], "broken", true, "violates the output schema"],
    [[BREACH], "broken", false, "violates the output schema"],
    [["unusable"], "unused", true, "not checked against the output schema"],
  ])("%j, %s, with a schema: %s", (findings, schema_verdict, hasSchema, words) => {
    render(
      <MantineProvider env="test">
        <ResultView
          call={aCall({ result: { structuredContent: { a: 1 } }, findings, schema_verdict })}
          hasSchema={hasSchema}
        />
      </MantineProvider>,
    );
    expect(screen.getByText(words)).toBeTruthy();
    for (const finding of findings) expect(screen.getByText(finding)).toBeTruthy();
  });
});

describe("a call that the server answered with an error", () => {
  const failed = aCall({
    call_id: "failing",
    status: "error",
    request_id: 11,
    request_seqs: [7],
    error: {
      code: "SERVER_ERROR",
      message: "the server answered with error -32000: it cannot be done",
      category: "server",
      retryable: false,
      helpUrl: "/docs/errors/server-error",
      timestamp: 0,
      details: { rpc_code: -32000, rpc_message: "it cannot be done", data: { tool: "x" } },
    } as unknown as CallView["error"],
  });
  it("is named as in Traffic; one that was not answered failed", () => {
    expect(callStatus(failed).word).toBe("Error reply");
    expect(callStatus({ ...failed, error: null }).word).toBe("Failed");
  });
  const renderCall = (call: CallView) =>
    render(
      <MantineProvider env="test">
        <MemoryRouter>
          <CallPanel call={call} />
        </MemoryRouter>
      </MantineProvider>,
    );

  it("has the views of a result, with every digit of the error, and can be copied", async () => {
    const text = '{"jsonrpc":"2.0","id":11,"error":{"code":-32000,"data":12345678901234567890}}';
    const reply = { event: anEvent({ seq: 8 }), text, text_is_cut: false, masked: [] };
    const fetched = vi.fn(() => Promise.resolve(new Response(JSON.stringify(reply))));
    vi.stubGlobal("fetch", fetched);
    const user = userEvent.setup();
    const copied = vi.spyOn(navigator.clipboard, "writeText");
    renderCall(failed);
    expect(screen.getByRole("alert").textContent).toContain("it cannot be done");
    // The views show all of it: there is no second way to unfold it.
    expect(screen.queryByRole("button", { name: "Show full error" })).toBeNull();
    await user.click(screen.getByRole("radio", { name: "Tree" }));
    expect(screen.getByRole("tree", { name: "Result" })).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Copy the error" }));
    const exact = '{\n  "code": -32000,\n  "data": 12345678901234567890\n}';
    expect(copied).toHaveBeenCalledWith(exact);
    await user.click(screen.getByRole("radio", { name: "Raw" }));
    expect(await screen.findByLabelText("Message as it came")).toBeTruthy();
    // To the message that came, not to the request.
    expect(screen.getByRole("link", { name: "Hex in Traffic" }).getAttribute("href")).toBe(
      "/s/demo/traffic/8?call=failing",
    );
    await user.click(screen.getByRole("radio", { name: "Error" }));
    notifications.clean();
    vi.unstubAllGlobals();
  });

  it("is shown by its words and as the whole message where bytes were sent", async () => {
    const { details } = failed.error as NonNullable<CallView["error"]>;
    const reply = { jsonrpc: "2.0", id: 11, error: { code: -32000, message: "no", data: details } };
    const raw = aCall({
      ...failed,
      call_id: "raw",
      kind: "raw",
      status: "completed",
      is_error: true,
      result: reply,
      result_size_bytes: 90,
    });
    const fetched = vi.fn(() => Promise.resolve(new Response(JSON.stringify(reply))));
    vi.stubGlobal("fetch", fetched);
    const user = userEvent.setup();
    renderCall(raw);
    expect(callStatus(raw).word).toBe("Error reply");
    expect(screen.getByRole("alert").textContent).toContain("it cannot be done");
    expect((screen.getByRole("radio", { name: "Error" }) as HTMLInputElement).checked).toBe(true);
    const copied = vi.spyOn(navigator.clipboard, "writeText");
    await user.click(screen.getByRole("button", { name: "Copy the result" }));
    expect(copied).toHaveBeenLastCalledWith(JSON.stringify(reply, null, 2));
    notifications.clean();
    vi.unstubAllGlobals();
  });

  it("leads to the message that carried the error", () => {
    vi.stubGlobal("fetch", () => Promise.reject(new Error("offline")));
    renderCall(failed);
    const link = (): string | null =>
      screen.getByRole("link", { name: "id 11" }).getAttribute("href");
    expect(link()).toBe("/s/demo/traffic/7?call=failing");
    cleanup();
    ring.append([
      anEvent({ seq: 7, status: "request", request_id: 11 }),
      anEvent({ seq: 8, kind: "FrameReceived", status: "error", request_seq: 7 }),
    ]);
    renderCall(failed);
    expect(link()).toBe("/s/demo/traffic/8?call=failing");
    vi.unstubAllGlobals();
  });
});

describe("a saved call", () => {
  it("says in short lines that it fills the form, and what it gave", () => {
    const content = [{ type: "text", text: "5\n and more" }];
    const saved = { description: "", arguments: '{\n  "a": 2\n}', result: { content, _meta: {} } };
    expect(hintOf(saved as unknown as SavedCallView)).toBe(
      'Fills the form with { "a": 2 }\nResult when it was saved: 5 and more',
    );
  });
  it("is first named as the tool, with a number if that name is taken", () => {
    expect(suggestedName("add", [])).toBe("add");
    expect(suggestedName("add", ["add", "add 2", "other"])).toBe("add 3");
  });
});

describe("a result of a tool that reports an error", () => {
  const text = (words: string) => ({ content: [{ type: "text", text: words }] });
  const failed = aCall({ result: { ...text("no such file"), isError: true }, is_error: true });
  const view = (call: CallView) => (
    <MantineProvider env="test">
      <MemoryRouter>
        <ResultView key={call.call_id} call={call} />
      </MemoryRouter>
    </MantineProvider>
  );
  it("begins with its content, whatever view was chosen before, and can be switched", async () => {
    const user = userEvent.setup();
    const good = aCall({ call_id: "good", result: text("done") });
    const { rerender } = render(view(good));
    await user.click(screen.getByRole("radio", { name: "Tree" }));
    rerender(view(failed));
    expect(screen.getByRole("alert").textContent).toBe("The tool reports an error (isError)");
    await user.click(screen.getByRole("radio", { name: "JSON" }));
    expect(screen.queryByRole("alert")).toBeNull();
    rerender(view({ ...good, call_id: "later" }));
    expect(screen.getByRole("radio", { name: "Tree", checked: true })).toBeTruthy();
    await user.click(screen.getByRole("radio", { name: "Content" }));
  });
});

describe("the facts of a call", () => {
  const tip = async (words: string): Promise<string | null> => {
    const user = userEvent.setup();
    await user.hover(screen.getByText(words));
    const found = await screen.findByRole("tooltip");
    await user.unhover(screen.getByText(words));
    return found.textContent;
  };
  it("say what they are", async () => {
    const call = aCall({ elapsed_s: 0.02, result_size_bytes: 63 });
    render(
      <MantineProvider env="test">
        <CallFacts call={call} choice={{ calls: [call], onChoose: () => undefined }} />
      </MantineProvider>,
    );
    expect(await tip("20 ms")).toContain("Duration of the whole call");
    expect(await tip("63 B")).toContain("Size of the result");
    // There is nothing to choose from.
    expect(screen.queryByText(/\d+ call/)).toBeNull();
  });
  it("say why its result cannot be copied", async () => {
    const user = userEvent.setup();
    render(
      <MantineProvider env="test">
        <MemoryRouter>
          <CallActions call={aCall({ status: "in_progress", elapsed_s: null })} />
        </MemoryRouter>
      </MantineProvider>,
    );
    const copy = screen.getByRole("button", { name: "Copy the result" });
    expect(copy.getAttribute("aria-disabled")).toBe("true");
    await user.hover(copy);
    expect((await screen.findByRole("tooltip")).textContent).toBe("There is no result yet");
  });
});

describe("how a call stands", () => {
  it("tells a raw message without a reply from one that was answered", () => {
    expect(callStatus(aCall({ kind: "raw" })).word).toBe("Sent, no reply");
    expect(callStatus(aCall({ kind: "raw", result_size_bytes: 5 })).word).toBe("Done");
    expect(callStatus(aCall()).word).toBe("Done");
  });
  it("is an error of the tool also where its request was written by hand", () => {
    const raw = aCall({ kind: "raw", result_size_bytes: 5, is_error: true });
    expect(callStatus(raw)).toEqual({ word: "Error reply", tone: "red" });
    const failed = { ...raw, tool_error: "no such file", result: { id: 1, result: {} } };
    expect(callStatus(failed)).toEqual({ word: "Tool error", tone: "red" });
    render(
      <MantineProvider env="test">
        <MemoryRouter>
          <ResultView call={failed} />
        </MemoryRouter>
      </MantineProvider>,
    );
    expect(screen.getByRole("alert").textContent).toContain("The tool reports an error");
    expect(screen.getByText("no such file")).toBeDefined();
  });
  it("says that a result does not fit", () => {
    const breach = "structuredContent breaks the output schema: sum: must be a number";
    const broken = aCall({ findings: [breach], schema_verdict: "broken" });
    expect(findingsSummary(broken)).toBe("does not match the output schema");
    expect(findingsSummary(aCall({ findings: ["unusual JSON: NaN"] }))).toBe("1 finding");
    expect(findingsSummary(aCall())).toBeNull();
  });
});

describe("NoiseCount", () => {
  const noise = (seq: number, part = {}) =>
    anEvent({ seq, kind: "FrameReceived", malformed: "not JSON", wall: seq, ...part });

  it("counts what its server sent while it ran, also what comes late", () => {
    const ring = new EventRing(100, () => undefined);
    const counted = new MalformedCount(aCall({ started: 10, elapsed_s: 10 }));
    expect(counted.of(ring)).toBe(0);
    ring.append([noise(9), noise(11), noise(12, { server_id: "other" })]);
    expect(counted.of(ring)).toBe(1);
    expect(counted.of(ring)).toBe(1);
    ring.append([noise(13, { malformed: null }), noise(19), noise(21), noise(22)]);
    expect(counted.of(ring)).toBe(2);
    ring.append([noise(23, { wall: 15 })]);
    expect(counted.of(ring)).toBe(2);
  });

  it("counts them as they come while the call still waits", () => {
    const ring = new EventRing(100, () => undefined);
    const waits = aCall({ started: 10, elapsed_s: null, status: "in_progress" });
    const counted = new MalformedCount(waits);
    ring.append([noise(9), noise(11)]);
    expect(counted.of(ring)).toBe(1);
    ring.append([noise(900)]);
    expect(counted.of(ring)).toBe(2);
  });
});

describe("a call in other words", () => {
  const request = parseExactly(
    '{"name":"add","arguments":{"a":12345678901234567890,"b":true}}',
  ).value;
  const given = aServer({
    server_id: "localhost",
    source: { kind: "command line", path: "", scope: "given" },
    command: null,
    url: "http://127.0.0.1:9/mcp",
    header_names: ["Authorization"],
    protocol_version: "2025-11-25",
    channel: { session_id: "ab***" },
  });

  it("names a server as another process knows it", () => {
    const words = `add --args '{"a":12345678901234567890,"b":true}'`;
    expect(asCommand(aCall(), request, aServer())).toBe(`mcplens call demo ${words}`);
    expect(asCommand(aCall(), request, given)).toBe(
      `mcplens call http://127.0.0.1:9/mcp ${words} -H "Authorization: $AUTHORIZATION"`,
    );
    const typed = aServer({
      source: { kind: "command line", path: "", scope: "given" },
      command: ["node", "my server.js"],
    });
    expect(asCommand(aCall(), request, typed)).toBe(`mcplens call ${words} -- node 'my server.js'`);
    const file = aServer({ source: { kind: "mcplens", path: "/a b.json", scope: "given" } });
    expect(asCommand(aCall(), request, file)).toContain("--config '/a b.json'");
  });

  it("says what else was sent", () => {
    const more = { name: "add", arguments: {}, _meta: { a: 1 }, task: { ttl: 5000 } };
    expect(asCommand(aCall(), more, aServer())).toBe(
      `mcplens call demo add --args '{}' --meta '{"a":1}' --task --ttl 5`,
    );
    expect(asPython(aCall(), more, aServer())).toContain("task=5)");
    const prompt = aCall({ kind: "prompt", method: "prompts/get", name: "hi" });
    expect(asCommand(prompt, { name: "hi", arguments: { who: "Ada" } }, aServer())).toBe(
      `mcplens prompt demo hi --args '{"who":"Ada"}'`,
    );
  });

  it("has the headers and the timeout of the call", () => {
    const call = aCall({ headers: { Authorization: "", "X-Trace": "1" }, timeout_s: 5 });
    const plain = { name: "add", arguments: {} };
    const filed = {
      ...given,
      source: { kind: "mcplens", path: "/a.json", scope: "user" as const },
    };
    const own = `-H "Authorization: $AUTHORIZATION" -H "X-Trace: $X_TRACE"`;
    const words = `add --args '{}' --timeout 5 ${own}`;
    expect(asCommand(call, plain, filed)).toBe(`mcplens call demo ${words}`);
    expect(asCommand(call, plain, given)).toBe(`mcplens call http://127.0.0.1:9/mcp ${words}`);
    const curl = asCurl(call, plain, given);
    expect(curl).toContain("curl -sS --max-time 5 ");
    expect(curl.match(/\$AUTHORIZATION|\$X_TRACE/g)).toHaveLength(2);
    const environ = `os.environ["X_TRACE"]}, timeout_s=5)`;
    expect(asPython(call, plain, { ...given, header_names: [] })).toMatch(
      /^import asyncio\nimport os/,
    );
    expect(asPython(call, plain, given)).toContain(environ);
    expect(asCommand(aCall({ is_forced: true }), plain, aServer())).toBe(
      "mcplens call demo add --args '{}' --force",
    );
    const endless = aCall({ headers: { "X-Trace": "1" }, timeout_s: 0 });
    expect(asCommand(endless, plain, aServer())).toBe(
      "mcplens call demo add --args '{}' --timeout 0",
    );
    expect(asPython(endless, plain, aServer())).toContain('{}, timeout_s=float("inf"))');
    expect(asCurl(endless, plain, given)).not.toContain("--max-time");
  });

  it("gives a raw message as it was typed", () => {
    const raw = aCall({ kind: "raw", method: "", name: "" });
    expect(asJsonRpc(raw, "no {json", aServer())).toBe("no {json");
    expect(asCommand(raw, "no {json", aServer())).toBe("mcplens raw demo 'no {json'");
    expect(asPython(raw, "no {json", aServer())).toContain('client.send_raw("no {json".encode())');
    expect(asCurl(raw, "no {json", given)).toContain("--data-raw 'no {json'");
  });

  it("has in a message of 2026-07-28 what every request carries", () => {
    const stateless = aServer({ protocol_version: "2026-07-28" });
    const { params } = JSON.parse(asJsonRpc(aCall(), request, stateless));
    expect(params._meta["io.modelcontextprotocol/protocolVersion"]).toBe("2026-07-28");
    const older = JSON.parse(asJsonRpc(aCall(), request, aServer()));
    expect(older.params._meta).toBeUndefined();
  });

  it("has in curl what the server wants to see, and no secret", () => {
    const text = asCurl(aCall(), request, given);
    expect(text).toContain("-H 'MCP-Protocol-Version: 2025-11-25'");
    expect(text).toContain('-H "Mcp-Session-Id: $MCP_SESSION_ID"');
    expect(text).toContain('-H "Authorization: $AUTHORIZATION"');
    expect(text).toContain('"a":12345678901234567890');
    const stateless = asCurl(aCall(), request, { ...given, protocol_version: "2026-07-28" });
    expect(stateless).toContain("Mcp-Method: tools/call");
    expect(stateless).toContain('"io.modelcontextprotocol/protocolVersion":"2026-07-28"');
  });
});

describe("texts", () => {
  it("are Markdown where somebody says so, and offered as such where they look like it", () => {
    expect(viewsOf("x", { mime: "text/markdown; charset=utf-8" }).forms[0]).toBe("markdown");
    expect(viewsOf("x", { mime: "text/x-markdown" }).forms[0]).toBe("markdown");
    expect(viewsOf("x", { uri: "file:///a/README.md" }).forms[0]).toBe("markdown");
    expect(viewsOf("# x", { mime: "text/plain", uri: "a.md" }).forms).toEqual(["text"]);
    expect(viewsOf("# x", {}).forms).toEqual(["text", "markdown"]);
    expect(viewsOf("[1]", { mime: "text/plain" }).forms).toEqual(["json", "text"]);
  });

  it("of a prompt's messages are joined", () => {
    const messages = [
      { role: "user", content: { type: "text", text: "Hello" } },
      {
        role: "user",
        content: [
          { type: "image", data: "" },
          { type: "text", text: "Bye" },
        ],
      },
      { role: "user", content: { type: "resource", resource: { text: "A file" } } },
      null,
    ];
    expect(promptText({ messages })).toBe("Hello\n\nBye\n\nA file");
    expect(promptText("nothing")).toBe("");
  });
});

it("a running call says what it waits for: you, a page to be visited, or the answer", () => {
  const url = "https://example.com/x";
  const awaiting = [{ url, host: "example.com", warnings: [], is_openable: true }];
  const running = aCall({ status: "in_progress" });
  const atPage = { ...running, awaiting };
  expect(waitingFor(running)).toBe("Waiting for the answer");
  expect(waitingFor(atPage)).toBe("Waiting for completion at example.com");
  expect(callStatus(atPage).word).toBe("Waiting for completion");
  expect(waitingFor({ ...atPage, is_waiting_on_user: true })).toBe("Waiting for you");
});

describe("how a result is shown", () => {
  const views = (): (string | null)[] =>
    screen
      .getAllByRole("radio")
      .map((one) => one.closest("[class*=SegmentedControl-control]")?.textContent ?? null);
  it("is named after what is seen, and a result without content is its tree alone", () => {
    show({ content: [] });
    expect(views()).toEqual(["Content", "Tree", "JSON", "Raw"]);
    cleanup();
    show({ anything: 1 });
    expect(views()).toEqual(["Tree", "JSON", "Raw"]);
    expect(screen.getAllByRole("tree")).toHaveLength(1);
  });
  const text = { content: [{ type: "text", text: "a" }] };
  const image = { content: [{ type: "image", data: "", mimeType: "image/png" }] };
  it("is remembered for its kind of content, and not for the next call", async () => {
    show(text);
    await userEvent.click(screen.getByRole("radio", { name: "JSON" }));
    expect(screen.getByLabelText("Result as JSON").textContent).toContain('"type": "text"');
    cleanup();
    show(image);
    expect(screen.getByRole("radio", { name: "Content" })).toHaveProperty("checked", true);
    cleanup();
    show({ content: [{ type: "text", text: "other" }] });
    expect(screen.getByRole("radio", { name: "JSON" })).toHaveProperty("checked", true);
  });
  it.each([
    [{ ...text, structuredContent: {} }, "structured+text"],
    [{ content: [...image.content, ...text.content] }, "image+text"],
    [{ contents: [{ uri: "a", mimeType: "text/markdown; charset=utf-8" }] }, "text/markdown"],
    [{ messages: [{ role: "user", content: { type: "audio" } }] }, "audio"],
    [null, "other"],
  ])("%j is a kind of its own", (result, kind) => {
    expect(contentKind(result)).toBe(kind);
  });
});
