// The frame around every screen: bar, banner, the screen, and the monitor beside it.
import { useDisclosure } from "@mantine/hooks";
import { useCallback } from "react";
import { Outlet } from "react-router";
import { SplitPane } from "../components/SplitPane";
import { usePreference } from "../state/browserStorage";
import { useRecordVisits } from "../state/navigation";
import { Dock } from "./Dock";
import css from "./Frame.module.css";
import { LinkBanner } from "./LinkBanner";
import { useLanding } from "./landing";
import { Palette } from "./Palette";
import { ShortcutList, useShortcuts } from "./Shortcuts";
import { TopBar } from "./TopBar";
import { useTitle } from "./useTitle";

export function Frame() {
  const [isDockOpen, setDockOpen] = usePreference("dock.open", false);
  const [side, setSide] = usePreference<"right" | "bottom">("dock.side", "bottom");
  const [isHelpOpen, help] = useDisclosure(false);
  const toggleDock = useCallback(() => setDockOpen(!isDockOpen), [isDockOpen, setDockOpen]);
  const [isSingle, setSingle] = usePreference("keys.single", true);
  useShortcuts(isSingle, help.open, toggleDock);
  useRecordVisits();
  useTitle();
  useLanding();
  const main = (
    <main className={css.main} id="screen">
      <Outlet />
    </main>
  );
  return (
    <div className={css.frame}>
      <a className={css.skip} href="#screen">
        Skip to the screen
      </a>
      <TopBar isDockOpen={isDockOpen} side={side} onDock={toggleDock} onHelp={help.open} />
      <LinkBanner />
      <div className={css.work}>
        <SplitPane
          name={`dock.${side}`}
          label="Size of the monitor"
          isVertical={side === "bottom"}
          sized="second"
          initial={side === "bottom" ? 240 : 420}
          least={120}
          isRoomy
          first={main}
          second={
            isDockOpen ? (
              <Dock side={side} onSide={setSide} onClose={() => setDockOpen(false)} />
            ) : null
          }
        />
      </div>
      <Palette isDockOpen={isDockOpen} isSingle={isSingle} onDock={toggleDock} onHelp={help.open} />
      <ShortcutList
        isOpen={isHelpOpen}
        isSingle={isSingle}
        onSingle={setSingle}
        onClose={help.close}
      />
    </div>
  );
}
