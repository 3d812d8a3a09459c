// How close the rows of lists and tables stand: kept in the browser, and written to the document,
// where tokens.css reads it.
import { create } from "zustand";
import { readPreference, writePreference } from "./browserStorage";

export type Density = "comfortable" | "compact";

/** Heights that lists of fixed rows need as numbers. */
interface Heights {
  /** One line: an event, a log line. */
  row: number;
  /** Two lines: a tool, a resource, a prompt. */
  item: number;
}
const HEIGHTS: Record<Density, Heights> = {
  comfortable: { row: 28, item: 42 },
  compact: { row: 24, item: 36 },
};

interface DensityState {
  density: Density;
  setDensity(density: Density): void;
}

export const useDensity = create<DensityState>((set) => ({
  density:
    readPreference<Density>("density", "comfortable") === "compact" ? "compact" : "comfortable",
  setDensity: (density) => {
    writePreference("density", density);
    set({ density });
    applyDensity();
  },
}));

export const useRowHeights = (): Heights => HEIGHTS[useDensity((state) => state.density)];

export function applyDensity(): void {
  document.documentElement.dataset.density = useDensity.getState().density;
}
