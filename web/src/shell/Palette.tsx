// Ctrl-K: any server, tool, resource, template, prompt, screen, action or recent call by a few
// letters.
import { Kbd, Modal, TextInput } from "@mantine/core";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import type { ServerView } from "../api/types";
import { Icon } from "../components/Icon";
import { NoSearchMatches } from "../components/NoMatches";
import { UntrustedText } from "../components/UntrustedText";
import { VirtualList } from "../components/VirtualList";
import { useLoadAll } from "../state/lists";
import { serverName, useCurrentServer } from "../state/navigation";
import { pluralize } from "../values/format";
import css from "./Palette.module.css";
import type { PageActions } from "./paletteActions";
import { type Entry, useEntries } from "./paletteEntries";
import { closePalette, usePalette } from "./paletteStore";

interface Props extends PageActions {
  /** Whether keys without Ctrl do anything. */
  isSingle: boolean;
}

const FOUND = "palette-found";

// Lowercased once, not on each key.
const texts = new WeakMap<object, string>();

interface Searched {
  label: string;
  about: string;
  words?: string;
  /** Found by its other words, it comes after all that are: it only leads to them. */
  comesLast?: boolean;
  isPast?: boolean;
}

function textOf(entry: Searched): string {
  let text = texts.get(entry);
  if (text === undefined) {
    text = `${entry.label} ${entry.about} ${entry.words ?? ""}`.toLowerCase();
    texts.set(entry, text);
  }
  return text;
}

/** Entries whose text has all the words, those that begin with the first one before others. */
export function matching<T extends Searched>(entries: T[], text: string): T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const [first] = words;
  if (!first) return entries;
  const fits = entries.filter((entry) => words.every((word) => textOf(entry).includes(word)));
  // A name before other words that people may type for it.
  const rank = (entry: T): number => {
    if (entry.isPast) return 3;
    if (textOf(entry).startsWith(first)) return 0;
    if (entry.label.toLowerCase().includes(first)) return 1;
    return entry.comesLast ? 3 : 2;
  };
  return fits.sort((one, other) => rank(one) - rank(other));
}

const loadingLabel = ([first, ...others]: ServerView[]): string =>
  `Still loading the lists of ${first ? serverName(first) : ""}${
    others.length ? ` and ${pluralize(others.length, "other server")}` : ""
  }…`;

function Content({ isSingle, ...page }: Props) {
  const navigate = useNavigate();
  const entries = useEntries(page);
  const loading = useLoadAll(useCurrentServer()?.server_id);
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
    const { to, focus = "screen" } = entry;
    closePalette(typeof to === "string");
    if (typeof to === "string") void navigate(to, { state: focus && { focus } });
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
        aria-label="Find a server, tool, resource, prompt, screen or action"
        placeholder="Find a server, tool, screen or action"
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
            // The element that gets the focus must not handle this key too.
            event.preventDefault();
            // Enter may be pressed before the last input is rendered.
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
          render={(entry) => (
            <div className="row">
              <Icon name={entry.icon} size={14} />
              <span className="cut">
                <UntrustedText>{entry.label}</UntrustedText>
              </span>
              <span className="cut dim grow">
                <UntrustedText>{entry.about}</UntrustedText>
              </span>
              {isSingle && entry.shortcut && <Kbd size="xs">{entry.shortcut}</Kbd>}
            </div>
          )}
        />
        {found.length === 0 && <NoSearchMatches text={wanted} onClear={clear} />}
      </div>
      {/* Always there, so that a screen reader announces its changes. */}
      <div className={`dim cut ${css.loading}`} role="status">
        {loading.length > 0 && loadingLabel(loading)}
      </div>
    </>
  );
}

export function Palette(props: Props) {
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
      <Content {...props} />
    </Modal>
  );
}
