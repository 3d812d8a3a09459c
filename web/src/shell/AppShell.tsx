// The app shell: top bar, banner, the current screen, and the monitor beside it.
import { useDisclosure } from "@mantine/hooks";
import { useCallback } from "react";
import { Outlet } from "react-router";
import { SplitPane } from "../components/SplitPane";
import { usePreference } from "../state/browserStorage";
import css from "./AppShell.module.css";
import { BackendBanner } from "./BackendBanner";
import { Monitor } from "./Monitor";
import { useNavigationFocus } from "./navigationFocus";
import { Palette } from "./Palette";
import { ShortcutList, useShortcuts } from "./Shortcuts";
import { TopBar } from "./TopBar";
import { useBackendDown } from "./useBackendDown";
import { useDocumentTitle } from "./useDocumentTitle";

export function AppShell() {
  const [isMonitorOpen, setMonitorOpen] = usePreference("monitor.open", false);
  const [side, setSide] = usePreference<"right" | "bottom">("monitor.side", "bottom");
  const [isHelpOpen, help] = useDisclosure(false);
  const toggleMonitor = useCallback(
    () => setMonitorOpen(!isMonitorOpen),
    [isMonitorOpen, setMonitorOpen],
  );
  const [isSingle, setSingle] = usePreference("keys.single", true);
  useShortcuts(isSingle, help.open, toggleMonitor);
  const isDown = useBackendDown();
  useDocumentTitle();
  useNavigationFocus();
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
      <TopBar
        isMonitorOpen={isMonitorOpen}
        side={side}
        onMonitor={toggleMonitor}
        onHelp={help.open}
      />
      <BackendBanner />
      <div className={css.work} data-stale={isDown || undefined}>
        <SplitPane
          name={`monitor.${side}`}
          label="Size of the monitor"
          isVertical={side === "bottom"}
          sized="second"
          initial={side === "bottom" ? 240 : 420}
          least={120}
          isRoomy
          first={main}
          second={
            isMonitorOpen ? (
              <Monitor side={side} onSide={setSide} onClose={() => setMonitorOpen(false)} />
            ) : null
          }
        />
      </div>
      <Palette
        isMonitorOpen={isMonitorOpen}
        isSingle={isSingle}
        onMonitor={toggleMonitor}
        onHelp={help.open}
      />
      <ShortcutList
        isOpen={isHelpOpen}
        isSingle={isSingle}
        onSingle={setSingle}
        onClose={help.close}
      />
    </div>
  );
}
