import { describe, expect, it, vi } from "vitest";
import type { EventView } from "../../api/types";
import { anEvent } from "../../testing/views";
import { type LogFilter, wantedLogs } from "./filter";
import { asJsonLines, asText, SHOWN, textOf } from "./levels";
import { calmly } from "./useLines";

const log = (seq: number, level: string, data: unknown, part: Partial<EventView> = {}): EventView =>
  anEvent({ seq, kind: "LogReceived", detail: { level, logger: "db", data }, ...part });
const stderr = (seq: number, head: string): EventView =>
  anEvent({ seq, kind: "StderrLine", head, size_bytes: head.length });

const ALL: LogFilter = {
  text: "",
  levels: [...SHOWN],
  server_id: null,
  request_id: null,
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
const seqs = (part: Partial<LogFilter>, stream: "both" | "messages" | "stderr" = "both") => {
  const wanted = wantedLogs({ ...ALL, ...part }, stream, (event) => event.seq % 2);
  return rows.filter(wanted).map((event) => event.seq);
};

describe("log lines", () => {
  it("are filtered by server, level, text, request and what was cleared", () => {
    expect(seqs({})).toEqual([1, 2, 3, 4, 5]);
    expect(seqs({ server_id: "demo" })).toEqual([1, 2, 3, 4]);
    expect(seqs({ levels: ["error"] })).toEqual([2, 4]);
    expect(seqs({ text: "ROWS" })).toEqual([2]);
    expect(seqs({ text: "db" })).toEqual([1, 2, 4, 5]);
    expect(seqs({ request_id: "0" })).toEqual([2, 4]);
    expect(seqs({ after_seq: 3 })).toEqual([4, 5]);
  });
  it("are one stream or two", () => {
    expect(seqs({}, "messages")).toEqual([1, 2, 4, 5]);
    expect(seqs({}, "stderr")).toEqual([3]);
  });
  it("say that a row has only their beginning", () => {
    expect(textOf(stderr(1, "short"))).toBe("short");
    const long = anEvent({ seq: 1, kind: "StderrLine", head: "x".repeat(300), size_bytes: 900 });
    expect(textOf(long)).toBe(`${"x".repeat(300)}…`);
  });
  it("are exported as text and as JSON Lines", () => {
    expect(asText(rows.slice(0, 3)).split("\n")).toHaveLength(4);
    expect(asText(rows.slice(0, 1))).toMatch(/^\d\d:\d\d:\d\d\.\d{3} demo info db Hello\n$/);
    const lines = asJsonLines(rows.slice(1, 3), () => 9)
      .trimEnd()
      .split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { server: "demo", level: "error", logger: "db", request: 9, data: { rows: 3 } },
      { level: "stderr", data: "Traceback" },
    ]);
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
    const stop = calmly(source, 100)(() => told.push(came));
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
