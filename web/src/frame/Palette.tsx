// Ctrl-K: any server, tool, resource, prompt, screen or recent call by a few letters.
import { Modal, TextInput } from "@mantine/core";
import { useDeferredValue, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { Icon, type IconName } from "../parts/icons";
import { VirtualList } from "../parts/VirtualList";
import { itemsOf } from "../state/lists";
import { pathTo, useCurrentServer } from "../state/selection";
import { useInspector } from "../state/store";
import css from "./Palette.module.css";
import { closePalette, usePalette } from "./paletteStore";
import { TABS, tabPath } from "./TopBar";

interface Entry {
  key: string;
  icon: IconName;
  label: string;
  about: string;
  path: string;
}

// A screen that is in no tab: the bell leads there.
const QUESTIONS: Entry = {
  key: "screen questions",
  icon: "bell",
  label: "Questions",
  about: "screen",
  path: "/questions",
};

const KINDS = [
  { kind: "tools", icon: "tools", key: "name" },
  { kind: "prompts", icon: "prompts", key: "name" },
  { kind: "resources", icon: "resources", key: "uri" },
] as const;

function useEntries(): Entry[] {
  const server = useCurrentServer();
  const servers = useInspector((state) => state.servers);
  const calls = useInspector((state) => state.calls);
  return useMemo(() => {
    const screens = TABS.map((tab) => ({
      key: `screen ${tab.screen}`,
      icon: tab.icon,
      label: tab.label,
      about: "screen",
      path: tabPath(tab, server),
    }));
    const found: Entry[] = [...screens];
    for (const { server_id, title } of servers.values()) {
      found.push({
        key: `server ${server_id}`,
        icon: "servers",
        label: title ?? server_id,
        about: "server",
        path: pathTo(server_id, "tools"),
      });
      for (const { kind, icon, key } of KINDS) {
        for (const item of itemsOf(server_id, kind)) {
          const id = String(item[key] ?? "");
          found.push({
            key: `${server_id} ${kind} ${id}`,
            icon,
            label: String(item.title ?? item.name ?? id),
            about: `${id} · ${server_id}`,
            path: pathTo(server_id, kind, id),
          });
        }
      }
    }
    const recent = [...calls.values()].slice(-30).reverse();
    for (const call of recent) {
      const screen =
        call.kind === "prompt" ? "prompts" : call.kind === "resource" ? "resources" : "tools";
      found.push({
        key: `call ${call.call_id}`,
        icon: "refresh",
        label: `${call.method} ${call.name}`,
        about: `call · ${call.server_id} · ${call.status}`,
        path: `${pathTo(call.server_id, screen, call.name)}?call=${encodeURIComponent(call.call_id)}`,
      });
    }
    return found;
  }, [server, servers, calls]);
}

/** Entries whose text has all the words, those that begin with the first one before others. */
export function matching<T extends { label: string; about: string }>(
  entries: T[],
  text: string,
): T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const [first] = words;
  if (!first) return entries;
  const fits = entries.filter((entry) => {
    const whole = `${entry.label} ${entry.about}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const rank = (entry: T): number => (entry.label.toLowerCase().startsWith(first) ? 0 : 1);
  return fits.sort((one, other) => rank(one) - rank(other));
}

function Content() {
  const navigate = useNavigate();
  const entries = useEntries();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const wanted = useDeferredValue(text);
  const found = useMemo(() => matching([...entries, QUESTIONS], wanted), [entries, wanted]);
  const go = (entry: Entry | undefined): void => {
    if (!entry) return;
    closePalette();
    void navigate(entry.path);
  };
  return (
    <>
      <TextInput
        data-autofocus
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
          } else if (event.key === "Enter") go(found[at]);
        }}
      />
      <div className={css.results}>
        <VirtualList
          label="Found"
          items={found}
          keyOf={(entry) => entry.key}
          chosen={found[at]?.key ?? null}
          onChoose={(entry: Entry) => go(entry)}
          rowHeight={32}
          draw={(entry) => (
            <div className="row">
              <Icon name={entry.icon} size={14} />
              <span className="cut">{entry.label}</span>
              <span className="cut dim grow">{entry.about}</span>
            </div>
          )}
        />
        {found.length === 0 && <p className={`dim ${css.none}`}>Nothing has all of these words.</p>}
      </div>
    </>
  );
}

export function Palette() {
  const { isOpen } = usePalette();
  return (
    <Modal
      opened={isOpen}
      onClose={closePalette}
      withCloseButton={false}
      padding={0}
      size={620}
      yOffset="12vh"
      centered={false}
      title={null}
      attributes={{ content: { "aria-label": "Command palette" } }}
    >
      <Content />
    </Modal>
  );
}
