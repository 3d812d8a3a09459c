// Fetches one event in full, from memory or the recording, and says if it is not recorded.
import { useEffect, useState } from "react";
import { fetchEvent } from "../api/http";
import { CommandError } from "../api/socket";
import type { EventView, WholeEvent } from "../api/types";
import { errorMessage } from "../values/format";
import { fieldsOf } from "../values/jsonObject";

export type WholeEventState = { whole: WholeEvent } | EventProblem;

export interface EventProblem {
  problem: string;
  /** The recording does not have it. */
  isMissing: boolean;
}

type EventId = Pick<EventView, "run_id" | "seq">;

/** Null until it is loaded, and if none is wanted. */
export function useWholeEvent(wanted: EventId | null): WholeEventState | null {
  const [got, setGot] = useState<(EventId & { of: WholeEventState }) | null>(null);
  const { run_id, seq } = wanted ?? { run_id: null, seq: null };
  useEffect(() => {
    if (run_id === null || seq === null) return;
    let isGone = false;
    const take = (of: WholeEventState): void => {
      if (!isGone) setGot({ run_id, seq, of });
    };
    fetchEvent(run_id, seq).then(
      (whole) => take({ whole }),
      (thrown) =>
        take({ problem: errorMessage(thrown), isMissing: thrown instanceof CommandError }),
    );
    return () => {
      isGone = true;
    };
  }, [run_id, seq]);
  return got !== null && got.run_id === run_id && got.seq === seq ? got.of : null;
}

/** The names of the values that were masked in the bytes of an event, each once. */
export const maskedKeys = (masked: WholeEvent["masked"]): string[] => [
  ...new Set(masked.map(maskedKey).filter((key) => key !== null)),
];

/** A secret that is known by its value has no key; a masked header has no place in the bytes. */
function maskedKey(mask: unknown): string | null {
  const { key, start } = fieldsOf(mask);
  if (typeof key === "string") return key;
  return typeof start === "number" ? "a token or password" : null;
}
