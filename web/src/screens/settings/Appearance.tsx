// How the page looks: kept in this browser, not in mcplens' settings.
import { type MantineColorScheme, SegmentedControl, useMantineColorScheme } from "@mantine/core";
import { type Density, useDensity } from "../../state/density";
import css from "./Settings.module.css";

const THEMES: { value: MantineColorScheme; label: string }[] = [
  { value: "auto", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];
const DENSITIES: { value: Density; label: string }[] = [
  { value: "comfortable", label: "Comfortable" },
  { value: "compact", label: "Compact" },
];
const WORDS = "appearance theme system light dark colour color density comfortable compact rows";

/** Whether a search in the settings means these. */
export const isAppearanceFound = (needle: string): boolean => WORDS.includes(needle);

export function Appearance() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { density, setDensity } = useDensity();
  return (
    <section aria-label="Appearance" className={css.appearance}>
      <h2 className="section-title">Appearance, in this browser</h2>
      <div className={css.choices}>
        <span>Theme</span>
        <SegmentedControl
          aria-label="Theme"
          value={colorScheme}
          onChange={(next) => setColorScheme(next as MantineColorScheme)}
          data={THEMES}
        />
        <span>Density</span>
        <SegmentedControl
          aria-label="Density"
          value={density}
          onChange={(next) => setDensity(next as Density)}
          data={DENSITIES}
        />
      </div>
    </section>
  );
}
