// Pinned events with their labels; mcplens keeps them across restarts.
import { useEffect } from "react";
import { create } from "zustand";
import type { EventView, PinView } from "../api/types";
import { command } from "../state/commands";
import { useInspector } from "../state/store";
import { withErrorToast } from "../state/toasts";

export const eventKey = ({ run_id, seq }: Pick<EventView, "run_id" | "seq">): string =>
  `${run_id}/${seq}`;

interface Pins {
  /** Newest first. */
  list: PinView[];
  labels: ReadonlyMap<string, string>;
}

export const usePins = create<Pins>(() => ({ list: [], labels: new Map() }));

export function setPins(list: PinView[]): void {
  usePins.setState({
    list,
    labels: new Map(list.map((pin) => [eventKey(pin.event), pin.label])),
  });
}

/** Loads the pins when a screen opens and after a reconnect. */
export function useLoadedPins(): void {
  const isLinked = useInspector((state) => state.link.state === "open");
  useEffect(() => {
    if (isLinked)
      void withErrorToast("The pins could not be loaded", command("ListPins", {}).then(setPins));
  }, [isLinked]);
}

export async function pin({ run_id, seq }: EventView, label: string): Promise<void> {
  const done = command("Pin", { run_id, seq, label });
  await withErrorToast("The event could not be pinned", done.then(setPins));
}

export async function unpin({ run_id, seq }: EventView): Promise<void> {
  const done = command("Unpin", { run_id, seq });
  await withErrorToast("The pin could not be removed", done.then(setPins));
}
