// The tools or prompts of a server: search, how the list stands, and the rows.
import { type ReactNode, useDeferredValue, useMemo, useRef } from "react";
import { Empty } from "../parts/Empty";
import { NoHits } from "../parts/NoHits";
import { focusRows } from "../parts/RowList";
import { VirtualList } from "../parts/VirtualList";
import { ListHead } from "../servers/ListHead";
import { ListStatus } from "../servers/ListStatus";
import { fitting, type Item } from "../state/items";
import { itemsIn, useList } from "../state/lists";
import { pathTo } from "../state/selection";
import { MarksProvider, useMarks } from "./marks";
import { useChoose } from "./useChoose";
import { useListFilter } from "./useListFilter";

interface Props<T> {
  serverId: string;
  kind: "tools" | "prompts";
  label: string;
  chosen: string | null;
  rowHeight: number;
  draw(item: Item<T>): ReactNode;
}

export const keyOf = (item: Item<unknown>): string => item.key;

export function NamedList<T>({ serverId, kind, label, chosen, rowHeight, draw }: Props<T>) {
  const list = useList(serverId, kind);
  const items = itemsIn<T>(list);
  const [text, setText] = useListFilter(`${kind}.${serverId}`, chosen, items);
  const wanted = useDeferredValue(text);
  const shown = useMemo(() => fitting(items, wanted), [items, wanted]);
  const choose = useChoose(chosen, (item) => pathTo(serverId, kind, item.key));
  const marks = useMarks(serverId, kind, list, chosen);
  const place = useRef<HTMLDivElement>(null);
  const open = (isStep: boolean): void => {
    // Keys may come before what was typed last is drawn.
    const [first] = fitting(items, text);
    if (first) choose(first, isStep);
  };
  const enter = (): void => {
    focusRows(place.current);
    open(true);
  };
  return (
    <div className="pane" ref={place}>
      <ListHead
        serverId={serverId}
        kinds={[kind]}
        noun={kind}
        text={text}
        onText={setText}
        onEnter={() => text.trim() && open(false)}
        onDown={enter}
      />
      <ListStatus serverId={serverId} kind={kind} list={list} shown={shown.length} hasSwitch />
      {list.fetched > 0 && !list.isLoading && items.length === 0 && (
        <Empty icon={kind} title={`No ${kind}`}>
          The server answered with an empty list.
        </Empty>
      )}
      {items.length > 0 && shown.length === 0 && (
        <NoHits text={wanted} onClear={() => setText("")} />
      )}
      <MarksProvider value={marks}>
        <VirtualList
          label={label}
          items={shown}
          keyOf={keyOf}
          chosen={chosen}
          onChoose={choose}
          rowHeight={rowHeight}
          draw={draw}
        />
      </MarksProvider>
    </div>
  );
}
