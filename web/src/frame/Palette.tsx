// Ctrl-K: any server, tool, resource, template, prompt, screen or recent call by a few letters, and
// what a narrow bar has no room for.
import { Modal, TextInput } from "@mantine/core";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import type { ListKind, ServerView } from "../api/types";
import { Icon, type IconName } from "../parts/icons";
import { Name } from "../parts/Name";
import { NoHits } from "../parts/NoHits";
import { VirtualList } from "../parts/VirtualList";
import { RESTART_KEY, restart, restartWord } from "../servers/connectAnew";
import { type Item, type Tool, titleOf } from "../state/items";
import { useAllItems, useLoadAll } from "../state/lists";
import { nameOf, pathTo, pathToCall, useCurrentServer, usePlace } from "../state/selection";
import { useInspector } from "../state/store";
import type { Landing } from "./landing";
import css from "./Palette.module.css";
import { closePalette, usePalette } from "./paletteStore";
import { TABS, tabPath } from "./TopBar";

interface Entry {
  key: string;
  icon: IconName;
  label: string;
  about: string;
  /** Where it leads, or what it does. */
  to: string | (() => void);
  /** What the focus goes to: to what was chosen on a screen, or to the screen. */
  landing?: Landing;
}

interface Actions {
  onDock(): void;
  onHelp(): void;
}

// A screen that is in no tab: the bell leads there.
const QUESTIONS: Entry = {
  key: "screen questions",
  icon: "bell",
  label: "Questions",
  about: "screen",
  to: "/questions",
};

const KINDS = [
  { kind: "tools", icon: "tools" },
  { kind: "prompts", icon: "prompts" },
  { kind: "resources", icon: "resources" },
  { kind: "resource_templates", icon: "resources" },
] as const;

// Far enough back for what one still has in mind.
const RECENT = 30;

const FOUND = "palette-found";

function pathToItem(serverId: string, kind: ListKind, key: string): string {
  if (kind !== "resource_templates") return pathTo(serverId, kind, key);
  return `${pathTo(serverId, "resources")}?template=${encodeURIComponent(key)}`;
}

function entryOf(serverId: string, kind: ListKind, icon: IconName, item: Item<unknown>): Entry {
  return {
    key: `${serverId} ${kind} ${item.key}`,
    icon,
    label: titleOf(item.value as Tool, item.key),
    about: `${item.key} · ${serverId}`,
    to: pathToItem(serverId, kind, item.key),
    landing: "item",
  };
}

const actionEntries = ({ onDock, onHelp }: Actions): Entry[] => [
  {
    key: "monitor",
    icon: "dockBottom",
    label: "Monitor",
    about: "open or close it · m",
    to: onDock,
  },
  { key: "keys", icon: "keyboard", label: "Keyboard shortcuts", about: "the list · ?", to: onHelp },
];

const restartEntry = (server: ServerView): Entry => ({
  key: "restart",
  icon: "refresh",
  label: `${restartWord(server)} ${nameOf(server)}`,
  about: `${server.transport === "stdio" ? "its process" : "a new connection"} · ${RESTART_KEY.shown}`,
  to: () => restart(server),
});

function useEntries({ onDock, onHelp }: Actions): Entry[] {
  const server = useCurrentServer();
  const place = usePlace();
  const servers = useInspector((state) => state.servers);
  const calls = useInspector((state) => state.calls);
  const itemsOf = useAllItems();
  const listed = useMemo(() => {
    const found: Entry[] = [];
    for (const one of servers.values()) {
      const { server_id } = one;
      const to = pathTo(server_id, "tools");
      const label = nameOf(one);
      found.push({ key: `server ${server_id}`, icon: "servers", label, about: "server", to });
      for (const { kind, icon } of KINDS) {
        for (const item of itemsOf(server_id, kind)) {
          found.push(entryOf(server_id, kind, icon, item));
        }
      }
    }
    return found;
  }, [servers, itemsOf]);
  return useMemo(() => {
    const screens = TABS.map((tab): Entry => {
      const { icon, label } = tab;
      const to = tabPath(tab, server, place);
      return { key: `screen ${tab.screen}`, icon, label, about: "screen", to };
    });
    const recent = [...calls.values()].slice(-RECENT).reverse();
    const called = recent.map(
      (call): Entry => ({
        key: `call ${call.call_id}`,
        icon: "refresh",
        label: `${call.method} ${call.name}`,
        about: `call · ${call.server_id} · ${call.status}`,
        to: pathToCall(call),
        landing: "item",
      }),
    );
    const actions = actionEntries({ onDock, onHelp });
    if (server) actions.unshift(restartEntry(server));
    return [...screens, QUESTIONS, ...actions, ...listed, ...called];
  }, [server, place, listed, calls, onDock, onHelp]);
}

// In small letters once, not at each key.
const texts = new WeakMap<object, string>();

function textOf(entry: { label: string; about: string }): string {
  let text = texts.get(entry);
  if (text === undefined) {
    text = `${entry.label} ${entry.about}`.toLowerCase();
    texts.set(entry, text);
  }
  return text;
}

/** Entries whose text has all the words, those that begin with the first one before others. */
export function matching<T extends { label: string; about: string }>(
  entries: T[],
  text: string,
): T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const [first] = words;
  if (!first) return entries;
  const fits = entries.filter((entry) => words.every((word) => textOf(entry).includes(word)));
  const rank = (entry: T): number => (textOf(entry).startsWith(first) ? 0 : 1);
  return fits.sort((one, other) => rank(one) - rank(other));
}

function Content(actions: Actions) {
  const navigate = useNavigate();
  const entries = useEntries(actions);
  useLoadAll();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const wanted = useDeferredValue(text);
  const found = useMemo(() => matching(entries, wanted), [entries, wanted]);
  const field = useRef<HTMLInputElement>(null);
  const clear = (): void => {
    setText("");
    field.current?.focus();
  };
  const go = (entry: Entry | undefined): void => {
    if (!entry) return;
    const { to, landing = "screen" } = entry;
    closePalette(typeof to === "string");
    if (typeof to === "string") void navigate(to, { state: { landing } });
    else to();
  };
  return (
    <>
      <TextInput
        ref={field}
        data-autofocus
        role="combobox"
        aria-expanded
        aria-controls={FOUND}
        aria-activedescendant={found[at] ? `${FOUND}-${at}` : undefined}
        autoComplete="off"
        size="md"
        variant="unstyled"
        className={css.field}
        aria-label="Find a server, tool, resource, prompt or screen"
        placeholder="Find a server, tool, resource, prompt or screen"
        leftSection={<Icon name="search" />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step) {
            event.preventDefault();
            setAt(Math.min(found.length - 1, Math.max(0, at + step)));
          } else if (event.key === "Enter") {
            // What has the focus next must not take it too.
            event.preventDefault();
            // Enter may come before what was typed last is drawn.
            go((wanted === text ? found : matching(entries, text))[at]);
          }
        }}
      />
      <div className={css.results}>
        <VirtualList
          id={FOUND}
          label="Found"
          items={found}
          keyOf={(entry) => entry.key}
          chosen={found[at]?.key ?? null}
          onChoose={(entry: Entry) => go(entry)}
          rowHeight={32}
          draw={(entry) => (
            <div className="row">
              <Icon name={entry.icon} size={14} />
              <span className="cut">
                <Name>{entry.label}</Name>
              </span>
              <span className="cut dim grow">
                <Name>{entry.about}</Name>
              </span>
            </div>
          )}
        />
        {found.length === 0 && <NoHits text={wanted} onClear={clear} />}
      </div>
    </>
  );
}

export function Palette(actions: Actions) {
  const { isOpen, hasLed } = usePalette();
  return (
    <Modal
      opened={isOpen}
      onClose={() => closePalette()}
      returnFocus={!hasLed}
      withCloseButton={false}
      padding={0}
      size={620}
      yOffset="12vh"
      centered={false}
      title={null}
      attributes={{ content: { "aria-label": "Command palette" } }}
    >
      <Content {...actions} />
    </Modal>
  );
}
