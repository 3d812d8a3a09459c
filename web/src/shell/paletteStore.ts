import { create } from "zustand";

interface PaletteState {
  isOpen: boolean;
  /** The palette navigated, so the focus does not return to its former element. */
  hasLed: boolean;
}

export const usePalette = create<PaletteState>()(() => ({ isOpen: false, hasLed: false }));
export const openPalette = (): void => usePalette.setState({ isOpen: true, hasLed: false });
export const closePalette = (hasLed = false): void =>
  usePalette.setState({ isOpen: false, hasLed });
