// All palette entries: screens, actions, catalog items, recent calls.
import { useMemo } from "react";
import type { CallView, ListKind, ServerView } from "../api/types";
import { callStatus } from "../calls/callStatus";
import type { IconName } from "../components/Icon";
import { type Item, itemTitle, type Tool } from "../state/items";
import { useAllItems } from "../state/lists";
import {
  pathTo,
  pathToCall,
  serverName,
  useCurrentServer,
  usePageLocation,
} from "../state/navigation";
import { useInspector } from "../state/store";
import { formatTime, truncate } from "../values/format";
import { fieldsOf } from "../values/jsonObject";
import { previewOf } from "../values/jsonPreview";
import type { FocusTarget } from "./navigationFocus";
import { type PageActions, useActions } from "./paletteActions";
import { useKeptEntries, usePlaces, useSettingEntries } from "./palettePlaces";
import { isScreenOffered, keyOfTab, TABS, tabPath } from "./tabs";

export interface Entry {
  key: string;
  icon: IconName;
  label: string;
  about: string;
  /** Other words that people may type for it; they are not shown. */
  words?: string;
  /** Found by its other words, it comes after all that are: it only leads to them. */
  comesLast?: boolean;
  /** An earlier call: comes after what it was a call of, which has the same name. */
  isPast?: boolean;
  /** Keyboard shortcut of the same action. */
  shortcut?: string;
  /** Where it leads, or what it does. */
  to: string | (() => void);
  /**
   * Focus target after navigation, if not the screen; null for a dialog, which takes the focus
   * itself.
   */
  focus?: FocusTarget | null;
}

// A screen without a tab, reached from its menu at the top.
const QUESTIONS: Entry = {
  key: "screen questions",
  icon: "questions",
  label: "Questions",
  about: "screen",
  words: "bell inbox ask sampling elicitation waiting answer",
  to: "/questions",
};

const KINDS = [
  { kind: "tools", icon: "tools" },
  { kind: "prompts", icon: "prompts" },
  { kind: "resources", icon: "resources" },
  { kind: "resource_templates", icon: "resources" },
] as const;

// Enough recent calls to be useful.
const RECENT = 30;

function pathToItem(serverId: string, kind: ListKind, key: string): string {
  if (kind !== "resource_templates") return pathTo(serverId, kind, key);
  return `${pathTo(serverId, "resources")}?template=${encodeURIComponent(key)}`;
}

function entryOf(serverId: string, kind: ListKind, icon: IconName, item: Item<unknown>): Entry {
  const label = itemTitle(item.value as Tool, item.key);
  return {
    key: `${serverId} ${kind} ${item.key}`,
    icon,
    label,
    about: label === item.key ? serverId : `${item.key} · ${serverId}`,
    to: pathToItem(serverId, kind, item.key),
    focus: "item",
  };
}

// Enough to tell calls apart, and the row has room for its time.
const ARGUMENTS = 48;

/** The arguments of a call in a few words; a raw message as it was typed. */
function argumentsOf({ kind, request }: CallView): string {
  if (kind === "raw") return truncate(typeof request === "string" ? request : "", ARGUMENTS);
  const given = fieldsOf(fieldsOf(request).arguments);
  return truncate(previewOf(given, ARGUMENTS).slice(1, -1), ARGUMENTS);
}

const called = (call: CallView): Entry => {
  const facts = [
    argumentsOf(call),
    callStatus(call).word,
    formatTime(call.started, false),
    call.server_id,
  ];
  return {
    key: `call ${call.call_id}`,
    icon: "history",
    label: call.name || call.method || "Raw message",
    about: facts.filter(Boolean).join(" · "),
    words: `earlier call ${call.method}`,
    isPast: true,
    to: pathToCall(call),
    focus: "item",
  };
};

/** Catalog items of all servers, the current one first. */
function useListed(current: ServerView | null): Entry[] {
  const servers = useInspector((state) => state.servers);
  const itemsOf = useAllItems();
  return useMemo(() => {
    const found: Entry[] = [];
    const others = [...servers.values()].filter((one) => one !== current);
    for (const one of current ? [current, ...others] : others) {
      const { server_id } = one;
      const to = pathTo(server_id, "tools");
      const label = serverName(one);
      found.push({ key: `server ${server_id}`, icon: "servers", label, about: "server", to });
      for (const { kind, icon } of KINDS) {
        for (const item of itemsOf(server_id, kind)) {
          found.push(entryOf(server_id, kind, icon, item));
        }
      }
    }
    return found;
  }, [servers, current, itemsOf]);
}

export function useEntries(page: PageActions): Entry[] {
  const server = useCurrentServer();
  const place = usePageLocation();
  const calls = useInspector((state) => state.calls);
  const listed = useListed(server);
  const { first, others } = useActions(page, server);
  const parts = usePlaces(server);
  const sessions = useKeptEntries();
  const settings = useSettingEntries();
  return useMemo(() => {
    const screens = TABS.flatMap((tab): Entry[] => {
      if (!isScreenOffered(tab, server, place)) return [];
      const { icon, label, words } = tab;
      const to = tabPath(tab, server, place);
      const key = `screen ${tab.screen}`;
      const digit = keyOfTab(tab);
      const shortcut = digit ? { shortcut: digit } : {};
      return [{ key, icon, label, about: "screen", words, ...shortcut, to }];
    });
    const recent = [...calls.values()].slice(-RECENT).reverse().map(called);
    const more = [...parts, ...sessions, ...settings];
    return [...screens, QUESTIONS, ...first, ...listed, ...others, ...more, ...recent];
  }, [server, place, listed, calls, first, others, parts, sessions, settings]);
}
