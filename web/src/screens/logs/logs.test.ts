// @vitest-environment happy-dom
import { describe, expect, it, vi } from "vitest";
import type { EventView } from "../../api/types";
import { anEvent } from "../../testing/views";
import { describeLogFilter, emptyText } from "./LogLists";
import { type LogFilter, logMatcher } from "./logFilter";
import { asJsonLines, asTextLines, loadLines, SHOWN_LEVELS, textOf } from "./logLines";
import { throttledSubscribe } from "./useLogLines";

const log = (seq: number, level: string, data: unknown, part: Partial<EventView> = {}): EventView =>
  anEvent({ seq, kind: "LogReceived", detail: { level, logger: "db", data }, ...part });
const stderr = (seq: number, head: string): EventView =>
  anEvent({ seq, kind: "StderrLine", head, size_bytes: head.length });

const ALL: LogFilter = {
  text: "",
  levels: [...SHOWN_LEVELS],
  server_id: null,
  link: null,
  after_seq: 0,
};

const rows = [
  log(1, "info", "Hello"),
  log(2, "error", { rows: 3 }),
  stderr(3, "Traceback"),
  log(4, "odd", "no level of MCP"),
  log(5, "info", "elsewhere", { server_id: "other" }),
  anEvent({ seq: 6 }),
];
const seqs = (
  part: Partial<LogFilter>,
  stream: "both" | "messages" | "stderr" = "both",
  isLinked: (event: EventView) => boolean = () => true,
) => {
  const wanted = logMatcher({ ...ALL, ...part }, stream, isLinked);
  return rows.filter(wanted).map((event) => event.seq);
};

describe("log lines", () => {
  it("are filtered by server, level, text, request and what was cleared", () => {
    expect(seqs({})).toEqual([1, 2, 3, 4, 5]);
    expect(seqs({ server_id: "demo" })).toEqual([1, 2, 3, 4]);
    expect(seqs({ levels: ["error"] })).toEqual([2, 4]);
    expect(seqs({ text: "ROWS" })).toEqual([2]);
    expect(seqs({ text: "db" })).toEqual([1, 2, 4, 5]);
    expect(seqs({}, "both", (event) => event.seq % 2 === 0)).toEqual([2, 4]);
    expect(seqs({ after_seq: 3 })).toEqual([4, 5]);
  });
  it("are searched as they are shown, without a terminal's colours", () => {
    const esc = String.fromCharCode(27);
    const coloured = stderr(7, `${esc}[31mWar${esc}[0mning`);
    const finds = (text: string) => logMatcher({ ...ALL, text }, "both", () => true)(coloured);
    expect(finds("warning")).toBe(true);
    expect(finds("31")).toBe(false);
  });
  it("are one stream or two", () => {
    expect(seqs({}, "messages")).toEqual([1, 2, 4, 5]);
    expect(seqs({}, "stderr")).toEqual([3]);
  });
  it("say that a row has only their beginning", () => {
    expect(textOf(stderr(1, "short"))).toBe("short");
    expect(textOf({ ...stderr(1, "how it begins"), is_cut: true })).toBe("how it begins…");
  });
  it("say why there are none", () => {
    expect(describeLogFilter(ALL, "both")).toBe("");
    expect(describeLogFilter({ ...ALL, levels: [] }, "both")).toBe("All levels are hidden");
    expect(describeLogFilter({ ...ALL, levels: ["info"] }, "stderr")).toBe("All levels are hidden");
    expect(describeLogFilter({ ...ALL, levels: ["stderr"] }, "stderr")).toBe("");
    const some = { text: " x ", levels: ["info", "error", "stderr"] };
    expect(describeLogFilter({ ...ALL, ...some }, "messages", "call c5")).toBe(
      "“x” · call c5 · info, error",
    );
    expect(emptyText(ALL, "stderr")).toMatch("appears here");
    expect(emptyText(ALL, "both", false)).toBe("This session has no log lines.");
    expect(emptyText({ ...ALL, server_id: "demo" }, "both", false)).toMatch("all servers");
  });
  it("are exported as text and as JSON Lines", async () => {
    const all = await loadLines(rows);
    expect(asTextLines(all.slice(0, 3)).split("\n")).toHaveLength(4);
    expect(asTextLines(all.slice(0, 1))).toMatch(/^\d\d:\d\d:\d\d\.\d{3} demo info db Hello\n$/);
    const lines = asJsonLines(all.slice(1, 3), () => anEvent({ seq: 7, request_id: 9 }))
      .trimEnd()
      .split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { server: "demo", level: "error", logger: "db", request: 9, data: { rows: 3 } },
      { level: "stderr", data: "Traceback" },
    ]);
  });
});

describe("lines that a row has no room for", () => {
  it("are fetched, a few at a time, and those that are gone stay as they begin", async () => {
    const cut = Array.from({ length: 40 }, (_, seq) => ({ ...stderr(seq, "it"), is_cut: true }));
    let open = 0;
    let most = 0;
    const spoken = await loadLines([...cut, log(99, "info", "short")], async (_, seq) => {
      open += 1;
      most = Math.max(most, open);
      await Promise.resolve();
      open -= 1;
      if (seq === 3) throw new Error("gone");
      const event = cut[seq] as EventView;
      return {
        event,
        text: `it is number ${seq}`,
        text_is_cut: false,
        masked: [],
        has_exact: true,
      };
    });
    expect(spoken.map(({ said }) => said).slice(2, 5)).toEqual([
      "it is number 2",
      "it…",
      "it is number 4",
    ]);
    expect(spoken.filter(({ isPart }) => isPart)).toHaveLength(1);
    expect(spoken.at(-1)?.said).toBe("short");
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(6);
  });
});

describe("a flood", () => {
  it("is told of at most once in a while, and to its end", () => {
    vi.useFakeTimers();
    let happen: () => void = () => undefined;
    let came = 0;
    const told: number[] = [];
    const source = {
      subscribe: (listener: () => void) => {
        happen = listener;
        return () => undefined;
      },
    };
    const stop = throttledSubscribe(source, 100)(() => told.push(came));
    for (came = 1; came <= 50; came += 1) {
      happen();
      vi.advanceTimersByTime(10);
    }
    came = 50;
    vi.advanceTimersByTime(100);
    expect(told.length).toBeGreaterThanOrEqual(5);
    expect(told.length).toBeLessThanOrEqual(7);
    expect(told.at(-1)).toBe(50);
    stop();
    vi.useRealTimers();
  });
});
