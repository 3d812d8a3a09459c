// The keys that work everywhere, and the list of them.
import { Kbd, Modal } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useNavigate } from "react-router";
import { useCurrentServer } from "../state/selection";
import { openPalette } from "./paletteStore";
import { TABS, tabPath } from "./TopBar";

const KEYS: [string, string][] = [
  ["Ctrl K", "Find a server, tool, resource, prompt or screen"],
  ["Ctrl Enter", "Run the call on this screen, or send the answer"],
  ["Esc", "Empty the search field, close what is open"],
  ["/", "Go to the search field"],
  ["↑ ↓", "Move in a list; → ← open and close in a tree"],
  ["c", "Copy the chosen value of a JSON tree"],
  ["1 – 9", "Go to a screen, in the order of the bar"],
  ["m", "Open or close the monitor"],
  ["?", "This list"],
];

function focusSearch(): void {
  document.querySelector<HTMLInputElement>("main input[data-search]")?.focus();
}

export function useShortcuts(onHelp: () => void, onDock: () => void): void {
  const navigate = useNavigate();
  const server = useCurrentServer();
  useHotkeys([
    ["/", focusSearch],
    ["?", onHelp],
    ["shift+?", onHelp],
    ["m", onDock],
    ...TABS.map((tab, index): [string, () => void] => [
      String(index + 1),
      () => void navigate(tabPath(tab, server)),
    ]),
  ]);
  useHotkeys([["mod+K", openPalette]], [], true);
}

export function ShortcutList({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts" size="md">
      <dl className="facts">
        {KEYS.map(([keys, what]) => (
          <div key={keys} style={{ display: "contents" }}>
            <dt>
              <Kbd>{keys}</Kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
