import { describe, expect, it } from "vitest";
import { EventRing } from "../../state/events";
import { anEvent } from "../../testing/views";
import { diffOf, hunksOf } from "../../values/diff";
import { tryParseExactly } from "../../values/exactJson";
import { linesOf } from "./DiffView";
import { editDraftFor } from "./editDraft";
import { FullTextSearch } from "./fullTextSearch";
import type { RowContext } from "./rowFacts";
import { NO_FILTER, trafficMatcher } from "./trafficFilter";
import { makeAxis, monoAt, spanOf } from "./waterfall";

describe("a search over whole messages", () => {
  it("asks for each word, then only for what is new, and tells whether it found any", async () => {
    const asked: Record<string, string>[] = [];
    const answers = [
      { seqs: [3], last_seq: 10, is_cut: false },
      { seqs: [3, 4], last_seq: 10, is_cut: false },
      { seqs: [], last_seq: 12, is_cut: false },
      { seqs: [], last_seq: 12, is_cut: false },
    ];
    const searching = new FullTextSearch("run", ["Deep", "word"], async (query) => {
      asked.push(query);
      return answers.shift() ?? { seqs: [], last_seq: 0, is_cut: false };
    });
    expect(await searching.look()).toBe(true);
    expect(asked[0]).toEqual({ run: "run", text: "Deep", ignore_case: "1", after: "0" });
    const wanted = trafficMatcher({ ...NO_FILTER, text: "deep WORD" }, null, {
      found: searching.found,
    });
    expect(wanted(anEvent({ seq: 3 }))).toBe(true);
    expect(wanted(anEvent({ seq: 4 }))).toBe(false);
    expect(wanted(anEvent({ seq: 4, head: "how deep it begins" }))).toBe(true);
    expect(await searching.look()).toBe(false);
    expect(asked[2]?.after).toBe("10");
  });
  it("is called off when other words are typed", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const searching = new FullTextSearch("run", ["deep", "word"], (_, signal) => {
      signals.push(signal);
      return new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    });
    const looking = searching.look();
    searching.stop();
    await expect(looking).rejects.toThrow();
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
  });
});

describe("the waterfall", () => {
  it("puts what ran at the same time at the same place, and draws idle time short", () => {
    const axis = makeAxis([
      { start: 0, end: 10 },
      { start: 5, end: 10 },
      { start: 1_000, end: 1_010 },
    ]);
    expect(axis(0)).toBe(0);
    expect(axis(5)).toBeCloseTo(5 / 21.2);
    expect(axis(10)).toBeCloseTo(10 / 21.2);
    expect(axis(1_000)).toBeCloseTo(11.2 / 21.2);
    expect(axis(1_010)).toBe(1);
    expect(axis(5_000)).toBe(1);
  });
  it("is sound for nothing, and for what took no time", () => {
    expect(makeAxis([])(3)).toBe(0);
    expect(makeAxis([{ start: 3, end: 3 }])(3)).toBe(0);
  });
  it("lets a request last until its answer, its end, or now", () => {
    const ring = new EventRing(100, (run) => run());
    const sent = { kind: "FrameSent", status: "request" };
    ring.append([
      anEvent({ seq: 1, ...sent, request_id: 1 }),
      anEvent({ seq: 2, ...sent, request_id: 2 }),
      anEvent({ seq: 3, ...sent, request_id: 3 }),
      anEvent({ seq: 4, kind: "FrameReceived", status: "result", request_seq: 1 }),
      anEvent({ seq: 5, kind: "RequestEnded", request_seq: 2, detail: { elapsed_s: 2.5 } }),
      anEvent({ seq: 9, kind: "Remark" }),
    ]);
    const [one, two, three, answer] = ring.items;
    if (!one || !two || !three || !answer) throw new Error("they are there");
    const context: RowContext = { ring, arrangement: "paired" };
    const newest = ring.items.at(-1)?.wall ?? 0;
    const now = monoAt(ring, newest + 22);
    expect(monoAt(ring, newest - 5)).toBe(9);
    expect(spanOf(one, context, now)).toEqual({ start: 1, end: 4 });
    expect(spanOf(two, context, now)).toEqual({ start: 2, end: 4.5 });
    expect(spanOf(three, context, now)).toEqual({ start: 3, end: 31 });
    expect(spanOf(answer, context, now)).toBeNull();
  });
});

describe("a request that is edited", () => {
  const message = (method: string, params: unknown) => ({ jsonrpc: "2.0", id: 7, method, params });
  const options = { meta: "", headers: [], timeout_s: "", as_task: false };
  it("opens its own screen, filled in", () => {
    expect(editDraftFor("s", message("tools/call", { name: "add", arguments: { a: 1 } }))).toEqual({
      path: "/s/s/tools/add",
      drafts: [
        ["tool.s/add", { text: '{\n  "a": 1\n}', mode: "form" }],
        ["tool.s/add.options", options],
      ],
    });
    const odd = editDraftFor("s", message("tools/call", { name: "add", arguments: [1] }));
    expect(odd.drafts[0]).toEqual(["tool.s/add", { text: "[\n  1\n]", mode: "json" }]);
    expect(editDraftFor("s", message("resources/read", { uri: "a://b" }))).toEqual({
      path: "/s/s/resources?uri=a%3A%2F%2Fb",
      drafts: [],
    });
    const prompt = { name: "p", arguments: { x: "y" } };
    expect(editDraftFor("s", message("prompts/get", prompt))).toEqual({
      path: "/s/s/prompts/p",
      drafts: [["prompt.s/p", { x: "y" }]],
    });
  });
  it("keeps every digit", () => {
    const text =
      '{"method":"tools/call","params":{"name":"add","arguments":{"a":12345678901234567890}}}';
    const parsed = tryParseExactly(text);
    const { drafts } = editDraftFor("s", parsed.ok && parsed.value);
    expect(drafts[0]?.[1]).toEqual({ text: '{\n  "a": 12345678901234567890\n}', mode: "form" });
    const odd = tryParseExactly('{"method":"tools/call","params":{"name":"add","arguments":1.0}}');
    expect(editDraftFor("s", odd.ok && odd.value).drafts[0]?.[1]).toEqual({
      text: "1.0",
      mode: "json",
    });
  });
  it("keeps the _meta that somebody gave, and that it ran as a task", () => {
    const meta = { progressToken: 3, "io.modelcontextprotocol/protocolVersion": "x", trace: "t" };
    const call = message("tools/call", { name: "add", _meta: meta, task: { ttl: 1 } });
    expect(editDraftFor("s", call).drafts[1]).toEqual([
      "tool.s/add.options",
      { ...options, meta: '{\n  "trace": "t"\n}', as_task: true },
    ]);
    // No other screen has a place for it.
    for (const [method, params] of [
      ["resources/read", { uri: "a://b", _meta: meta }],
      ["prompts/get", { name: "p", _meta: meta }],
      ["tools/call", { name: "add", requestState: "s" }],
    ] as const)
      expect(editDraftFor("s", message(method, params)).path).toBe("/s/s/raw");
  });
  it("opens the raw tester for anything else, with an id and without a token of its own", () => {
    const odd = message("x/y", { _meta: { progressToken: 3, kept: 1 } });
    const { path, raw } = editDraftFor("s", odd);
    expect(path).toBe("/s/s/raw");
    expect(JSON.parse(String(raw))).toEqual({
      ...message("x/y", { _meta: { kept: 1 } }),
      id: 1001,
    });
    expect(editDraftFor("s", message("tools/call", {})).path).toBe("/s/s/raw");
    expect(editDraftFor("s", message("prompts/get", { name: "p", arguments: { x: 1 } })).path).toBe(
      "/s/s/raw",
    );
    expect(editDraftFor("s", [1]).raw).toBe("[\n  1\n]");
  });
});

describe("a diff", () => {
  const drawn = (before: string, after: string, most?: number): string =>
    diffOf(before, after, most)
      .lines.map(({ sign, text }) => sign + text)
      .join(",");
  it("is the shortest way from one text to the other", () => {
    expect(drawn("a\nb\nc", "a\nb\nc")).toBe(" a, b, c");
    expect(drawn("a\nb\nc\nd", "a\nx\nc\nd")).toBe(" a,-b,+x, c, d");
    expect(drawn("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc").match(/[+-]/g)).toHaveLength(5);
    expect(drawn("a", "b\na\nc")).toBe("+b, a,+c");
  });
  it("gives both texts back, whatever they are", () => {
    let seed = 7;
    const next = (most: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % most;
    };
    for (let round = 0; round < 200; round += 1) {
      const text = () => Array.from({ length: next(12) + 1 }, () => "abc"[next(3)]).join("\n");
      const [before, after] = [text(), text()];
      for (const most of [1_000, 3]) {
        const { lines } = diffOf(before, after, most);
        const side = (sign: string) =>
          lines
            .filter((line) => line.sign !== sign)
            .map((line) => line.text)
            .join("\n");
        expect(side("+")).toBe(before);
        expect(side("-")).toBe(after);
      }
    }
  });
  it("gives up looking after so many changes, and cuts what is too long", () => {
    const many = (letter: string) =>
      Array.from({ length: 3_000 }, (_, at) => letter + at).join("\n");
    expect(diffOf(many("a"), many("b"))).toMatchObject({ added: 3_000, removed: 3_000 });
    expect(diffOf("\n".repeat(30_000), "x").is_cut).toBe(true);
  });
  it("shows the changes with what is around them", () => {
    const old = Array.from({ length: 40 }, (_, at) => `${at}`);
    const now = old.map((text, at) => (at === 10 || at === 12 || at === 30 ? "x" : text));
    const hunks = hunksOf(diffOf(old.join("\n"), now.join("\n")).lines, 2);
    expect(hunks.map(({ skipped, lines }) => [skipped, lines.length])).toEqual([
      [8, 9],
      [13, 6],
    ]);
  });
});

describe("a message as lines", () => {
  const whole = (text: string | null, text_is_cut = false) =>
    linesOf({
      event: anEvent({ seq: 1, detail: { pid: 7 } }),
      text,
      text_is_cut,
      masked: [],
      has_exact: true,
    });
  it("keeps every digit, so that numbers that differ in the last one differ", () => {
    const [one, other] = ["12345678901234567890", "12345678901234567891"];
    expect(diffOf(whole(`{"n":${one}}`), whole(`{"n":${other}}`))).toMatchObject({
      added: 1,
      removed: 1,
    });
  });
  it("has lines where it is cut too, and the fields of what has no text", () => {
    expect(whole('{"a":[1,2', true).split("\n")).toHaveLength(4);
    expect(whole(null)).toBe('{\n  "pid": 7\n}');
    expect(whole("no JSON")).toBe("no JSON");
  });
});
