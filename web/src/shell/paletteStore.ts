import { create } from "zustand";

interface PaletteState {
  isOpen: boolean;
  /** It led somewhere, so the focus does not go back to where it was. */
  hasLed: boolean;
}

export const usePalette = create<PaletteState>()(() => ({ isOpen: false, hasLed: false }));
export const openPalette = (): void => usePalette.setState({ isOpen: true, hasLed: false });
export const closePalette = (hasLed = false): void =>
  usePalette.setState({ isOpen: false, hasLed });
