// The tools or prompts of a server: search, status of the list, and the rows.
import { type ReactNode, useDeferredValue, useMemo, useRef } from "react";
import { EmptyState } from "../components/EmptyState";
import { focusList } from "../components/EventList";
import { NoMatches, NoSearchMatches } from "../components/NoMatches";
import { VirtualList } from "../components/VirtualList";
import { type Item, matchingItems } from "../state/items";
import { itemsIn, useList } from "../state/lists";
import { pathTo } from "../state/navigation";
import { visible } from "../values/hiddenCharacters";
import { ChangeMarksProvider, useChangeMarks } from "./ChangeMark";
import { ListStatus } from "./ListStatus";
import { ListToolbar } from "./ListToolbar";
import { useListFilter } from "./useListFilter";
import { useSelectItem } from "./useSelectItem";

/** A filter and order beside the text search. */
interface ExtraFilter<T> {
  /** Referentially stable while the filter does not change. */
  of(items: Item<T>[]): Item<T>[];
  /** Description of what is shown; null where nothing is hidden. */
  words: string | null;
  onClear(): void;
  /** The name of the order, if there are several. */
  order?: string;
}

interface Props<T> {
  serverId: string;
  kind: "tools" | "prompts";
  label: string;
  chosen: string | null;
  render(item: Item<T>): ReactNode;
  narrowing?: ExtraFilter<T>;
  /** Between the search and the rows. */
  head?: ReactNode;
  foot?: ReactNode;
}

export const itemKey = (item: Item<unknown>): string => item.key;

interface NothingProps {
  text: string;
  words: string | null;
  onClear(): void;
}

function NoItems({ text, words, onClear }: NothingProps) {
  if (words === null) return <NoSearchMatches text={text} onClear={onClear} />;
  const title = text.trim() ? `Nothing matches “${visible(text.trim())}”` : "No matches";
  return (
    <NoMatches title={title} onClear={onClear}>
      {words}
    </NoMatches>
  );
}

export function CatalogList<T>(props: Props<T>) {
  const { serverId, kind, label, chosen, render, narrowing, head, foot } = props;
  const list = useList(serverId, kind);
  const items = itemsIn<T>(list);
  const [text, setText] = useListFilter(`${kind}.${serverId}`, chosen, items);
  const wanted = useDeferredValue(text);
  const narrow = narrowing?.of;
  const shown = useMemo(() => {
    const found = matchingItems(items, wanted);
    return narrow ? narrow(found) : found;
  }, [items, wanted, narrow]);
  const choose = useSelectItem(chosen, (item) => pathTo(serverId, kind, item.key));
  const marks = useChangeMarks(serverId, kind, list, chosen);
  const place = useRef<HTMLDivElement>(null);
  const open = (isStep: boolean): void => {
    // A key may be pressed before the last input is rendered.
    const found = matchingItems(items, text);
    const [first] = narrow ? narrow(found) : found;
    if (first) choose(first, isStep);
  };
  const showAll = (): void => {
    setText("");
    narrowing?.onClear();
  };
  const enter = (): void => {
    focusList(place.current);
    open(true);
  };
  return (
    <div className="pane" ref={place}>
      <ListToolbar
        serverId={serverId}
        kinds={[kind]}
        noun={kind}
        text={text}
        onText={setText}
        onEnter={() => text.trim() && open(false)}
        onDown={enter}
      />
      <ListStatus serverId={serverId} kind={kind} list={list} shown={shown.length} hasSwitch />
      {head}
      {list.fetched > 0 && !list.isLoading && items.length === 0 && (
        <EmptyState icon={kind} title={`No ${kind}`}>
          The server answered with an empty list.
        </EmptyState>
      )}
      {items.length > 0 && shown.length === 0 && (
        <NoItems text={wanted} words={narrowing?.words ?? null} onClear={showAll} />
      )}
      <ChangeMarksProvider value={marks}>
        <VirtualList
          label={label}
          items={shown}
          keyOf={itemKey}
          chosen={chosen}
          onChoose={choose}
          render={render}
          {...(narrowing?.order && { order: narrowing.order })}
        />
      </ChangeMarksProvider>
      {items.length > 0 && foot}
    </div>
  );
}
