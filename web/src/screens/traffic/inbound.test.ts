import { describe, expect, it } from "vitest";
import type { EventView } from "../../api/types";
import { EventRing } from "../../state/events";
import { anEvent } from "../../testing/views";
import { treeRules } from "./arrangement";
import { columnsFor } from "./columns";
import {
  calledOf,
  elapsedOf,
  isPendingRow,
  previewOfRow,
  type RowContext,
  serverOf,
  sizeOf,
  statusOf,
} from "./rowFacts";
import { summaryOf } from "./trafficSummary";
import { TrafficTree } from "./trafficTree";

const client = { client_id: "client-1", client_name: "cursor" };
const asked = anEvent({
  seq: 1,
  mono: 1,
  server_id: "",
  kind: "InboundReceived",
  status: "request",
  method: "tools/call",
  detail: client,
  head: '{"params":{"name":"weather__sum","arguments":{"a":2}}}',
});
const hop = anEvent({
  seq: 2,
  mono: 1.1,
  server_id: "weather",
  kind: "FrameSent",
  status: "request",
  method: "tools/call",
  detail: { inbound_seq: 1 },
});
const got = anEvent({
  seq: 3,
  mono: 1.2,
  server_id: "weather",
  kind: "FrameReceived",
  status: "result",
  request_seq: 2,
  head: '{"result":{"content":[{"type":"text","text":"5"}]}}',
});
const told = anEvent({
  seq: 4,
  mono: 1.5,
  server_id: "",
  kind: "InboundAnswered",
  method: "tools/call",
  request_seq: 1,
  detail: { ...client, target_id: "weather", outcome: "ok", size_bytes: 88, elapsed_s: 0.5 },
});

function shown(events: EventView[], isOpen = false) {
  const ring = new EventRing(1000, (run) => run());
  ring.append(events);
  const context: RowContext = { ring, arrangement: "paired" };
  const rules = treeRules(ring, "paired");
  const isClosed = isOpen ? () => false : rules.startsClosed;
  const tree = new TrafficTree(rules.parentOf, isClosed, rules.isMerged);
  const drawn = (rows = ring.items) => tree.refresh(rows).rows.map(({ seq }) => seq);
  return { ring, context, drawn };
}

describe("a call through the gateway", () => {
  it("is one row for both hops, which opens to the second", () => {
    expect(shown([asked, hop, got, told]).drawn()).toEqual([1]);
    expect(shown([asked, hop, got, told], true).drawn()).toEqual([1, 2]);
  });

  it("is that row as well where one server is shown", () => {
    const { drawn } = shown([asked, hop, got, told]);
    expect(drawn([hop, got])).toEqual([1]);
  });

  it("says who called what, how it ended for the client, and what the server answered", () => {
    const { ring, context } = shown([asked, hop, got, told]);
    expect(ring.links.clientOf(asked)).toBe("cursor");
    expect(ring.links.clientOf(got)).toBe("cursor");
    expect(serverOf(asked, context)).toBe("weather");
    expect(calledOf(asked, context)).toBe("weather__sum");
    expect(statusOf(asked, context)).toEqual({ text: "ok", tone: "good" });
    expect(elapsedOf(asked, context)).toBeCloseTo(0.5);
    expect(sizeOf(asked, context)).toBe(88);
    expect(previewOfRow(asked, context)).toBe('a: 2 → "5"');
  });

  it("waits until the client has its answer", () => {
    const { context } = shown([asked, hop, got]);
    expect(isPendingRow(asked, context)).toBe(true);
    expect(statusOf(asked, context).text).toBe("waiting");
  });

  it("says that the tool failed, that it was refused, or cancelled", () => {
    const failed = shown([asked, hop, { ...got, is_error: true }, told]);
    expect(statusOf(asked, failed.context).text).toBe("tool error");
    for (const outcome of ["refused", "error", "cancelled"]) {
      const detail = { ...told.detail, outcome, target_id: "" };
      const { context } = shown([asked, { ...told, detail }]);
      expect(statusOf(asked, context).text).toBe(outcome);
      expect(serverOf(asked, context)).toBe("");
    }
  });

  it("counts as one request, open or not", () => {
    const { context } = shown([asked, hop, got, told]);
    expect(summaryOf([asked], context).requests).toBe(1);
    expect(summaryOf([asked, hop], context).requests).toBe(1);
  });

  it("does not wait for a stream that stays open", () => {
    const listen = { ...asked, method: "subscriptions/listen" };
    expect(isPendingRow(listen, shown([listen]).context)).toBe(false);
  });
});

describe("the column of clients", () => {
  it("is there only where a gateway has clients", () => {
    const ids = (withClient: boolean) => columnsFor("paired", true, withClient).map(({ id }) => id);
    expect(ids(true)).toContain("client");
    expect(ids(false)).not.toContain("client");
    expect(shown([asked, hop]).ring.links.serversOfClients).toEqual(new Set(["weather"]));
    expect(shown([got]).ring.links.hasClients).toBe(false);
  });
});
