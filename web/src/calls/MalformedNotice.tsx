// Notice about malformed messages that arrived from the server while a call ran.
import { useMemo, useSyncExternalStore } from "react";
import { Link } from "react-router";
import type { CallView } from "../api/types";
import { Callout } from "../components/Callout";
import { writeDraft } from "../state/browserStorage";
import { type EventRing, ring } from "../state/events";
import { pathTo } from "../state/navigation";
import { isRunning } from "./callStatus";

/** Counts the malformed messages during a call; reads each event once. */
export class MalformedCount {
  private count = 0;
  private seen = -1;
  private isOver = false;

  constructor(private readonly call: CallView) {}

  /** The current count; the last events may arrive after the call's end. */
  of({ items }: EventRing): number {
    const newest = items.at(-1);
    if (this.isOver || !newest || newest.seq <= this.seen) return this.count;
    const { started, elapsed_s, server_id } = this.call;
    const end = isRunning(this.call) ? Number.POSITIVE_INFINITY : started + (elapsed_s ?? 0);
    for (let at = items.length - 1; at >= 0; at -= 1) {
      const event = items[at];
      if (!event || event.seq <= this.seen || event.wall < started) break;
      if (event.kind !== "FrameReceived" || event.malformed === null) continue;
      if (event.wall <= end && event.server_id === server_id) this.count += 1;
    }
    this.seen = newest.seq;
    this.isOver = newest.wall > end;
    return this.count;
  }
}

export function MalformedNotice({ call }: { call: CallView }) {
  const counted = useMemo(() => new MalformedCount(call), [call]);
  const count = useSyncExternalStore(ring.subscribe, () => counted.of(ring));
  if (count === 0) return null;
  return (
    <Callout>
      {count === 1 ? "1 malformed message" : `${count} malformed messages`} arrived{" "}
      {isRunning(call) ? "since this call started" : "while this call ran"}.{" "}
      <Link
        to={pathTo(call.server_id, "traffic")}
        onClick={() => writeDraft("traffic.filter", { status: "malformed" })}
      >
        Show in Traffic
      </Link>
    </Callout>
  );
}
