// Global keyboard shortcuts and their help dialog.
import { Kbd, Modal, Switch } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useNavigate } from "react-router";
import { RESTART_KEY, restart } from "../servers/connectionActions";
import { useCurrentServer, usePageLocation } from "../state/navigation";
import { openPalette } from "./paletteStore";
import { DIGITS, KEYED, tabPath } from "./tabs";

const KEYS: [string, string][] = [
  ["Ctrl K", "Find a server, tool, resource, prompt, screen or action"],
  ["Ctrl Enter", "Run the call on this screen, or send the answer"],
  ["Esc", "Clear the search field, close the open panel"],
  ["/", "Go to the search field"],
  ["↑ ↓", "Move in a list; → ← open and close in a tree"],
  ["c", "Copy the chosen value of a JSON tree"],
  ["p", "Copy the path of that value"],
  ["*", "Expand all below that value"],
  ["1 – 9", "Go to a screen; the tooltip of a tab names its key"],
  ["m", "Open or close the monitor"],
  [RESTART_KEY.shown, "Restart or reconnect the current server"],
  ["?", "This list"],
];

function focusSearch(): void {
  document.querySelector<HTMLInputElement>("main input[data-search]")?.focus();
}

/** Not within dialogs or forms, where a key may be meant for a field. */
const unlessTaken = (act: () => void) => (event: KeyboardEvent) => {
  // Ignore key repeat.
  if (event.repeat || document.querySelector('[aria-modal="true"]')) return;
  if (event.target instanceof Element && event.target.closest("form, fieldset, [data-form]"))
    return;
  event.preventDefault();
  act();
};

/**
 * @param isSingle Whether shortcuts without Ctrl are enabled; speech input triggers them by
 * accident (WCAG 2.1.4).
 */
export function useShortcuts(isSingle: boolean, onHelp: () => void, onMonitor: () => void): void {
  const navigate = useNavigate();
  const server = useCurrentServer();
  const place = usePageLocation();
  const single: [string, () => void][] = [
    ["/", focusSearch],
    ["?", onHelp],
    ["shift+?", onHelp],
    ["m", onMonitor],
    [RESTART_KEY.hotkey, () => server && restart(server)],
    ...KEYED.slice(0, DIGITS).map((tab, index): [string, () => void] => [
      String(index + 1),
      () => void navigate(tabPath(tab, server, place)),
    ]),
  ];
  useHotkeys(
    isSingle ? single.map(([key, act]) => [key, unlessTaken(act), { preventDefault: false }]) : [],
  );
  useHotkeys([["mod+K", openPalette]], [], true);
}

interface ListProps {
  isOpen: boolean;
  isSingle: boolean;
  onSingle(isSingle: boolean): void;
  onClose(): void;
}

export function ShortcutList({ isOpen, isSingle, onSingle, onClose }: ListProps) {
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
      <Switch
        mt="lg"
        label="Single-key shortcuts"
        description={`Keys without Ctrl: / c p * 1 – 9 m ${RESTART_KEY.shown} ?`}
        checked={isSingle}
        onChange={(event) => onSingle(event.currentTarget.checked)}
      />
    </Modal>
  );
}
