// An event by its number: from the rows, kept by a pin, or from the recording.
import { useEffect, useState } from "react";
import { fetchEvent } from "../../api/http";
import type { EventView } from "../../api/types";
import { words } from "../../parts/format";
import type { EventRing } from "../../state/events";
import { usePins } from "./pins";

export interface Sought {
  event?: EventView;
  /** Why there is none. */
  problem?: string;
}

interface Place {
  run_id: string | null;
  seq: number | null;
}

export function useEvent(ring: EventRing, { run_id, seq }: Place): Sought {
  const pins = usePins((state) => state.list);
  const [far, setFar] = useState<Sought & Place>({ run_id: null, seq: null });
  const isIt = (event?: EventView): boolean => event?.seq === seq && event?.run_id === run_id;
  const found = seq === null ? undefined : ring.find(seq);
  const near = isIt(found) ? found : pins.find((pin) => isIt(pin.event))?.event;
  const isFar = near === undefined && run_id !== null && seq !== null;
  useEffect(() => {
    if (!isFar || run_id === null || seq === null) return;
    let isGone = false;
    fetchEvent(run_id, seq).then(
      ({ event }) => !isGone && setFar({ run_id, seq, event }),
      (thrown) => !isGone && setFar({ run_id, seq, problem: words(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [isFar, run_id, seq]);
  if (near) return { event: near };
  return isFar && far.run_id === run_id && far.seq === seq ? far : {};
}
