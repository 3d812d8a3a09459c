// The list of tools, with filters by annotation and sorting by size.
import { Button } from "@mantine/core";
import { memo, useCallback, useMemo } from "react";
import { CatalogList } from "../../catalog/CatalogList";
import { usePersistedFilter } from "../../catalog/useListFilter";
import { useDraft } from "../../state/browserStorage";
import type { Item } from "../../state/items";
import { itemsIn, useList } from "../../state/lists";
import css from "./ToolList.module.css";
import { SizedRow, ToolRow } from "./ToolRow";
import { hintsOf, TAGS, type Tag, type Tool } from "./toolHints";
import { biggestFirst, sizeOfAll, tokenEstimate } from "./toolSize";

const NO_TAGS: Tag[] = [];
const WORDS: Record<Tag, string> = {
  "read-only": "read-only",
  destructive: "destructive",
  idempotent: "idempotent",
  "open-world": "open-world",
  task: "can run as a task",
};

/** Whether a tool has all of these tags. */
function hasTags({ value }: Item<Tool>, tags: Tag[]): boolean {
  if (tags.length === 0) return true;
  const own = hintsOf(value).map((hint) => hint.tag);
  return tags.every((tag) => own.includes(tag));
}

/** How many tools have each tag that occurs. */
function countTags(items: Item<Tool>[]): Map<Tag, number> {
  const counts = new Map<Tag, number>();
  for (const { value } of items)
    for (const { tag } of hintsOf(value)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return counts;
}

interface ChipsProps {
  items: Item<Tool>[];
  chosen: Tag[];
  onChoose(tags: Tag[]): void;
}

const Chips = memo(function Chips({ items, chosen, onChoose }: ChipsProps) {
  const counts = useMemo(() => countTags(items), [items]);
  // A selected tag can be deselected even if no tool has it any more.
  const offered = TAGS.filter((tag) => counts.has(tag) || chosen.includes(tag));
  if (offered.length === 0) return null;
  const toggled = (tag: Tag): Tag[] =>
    chosen.includes(tag) ? chosen.filter((one) => one !== tag) : [...chosen, tag];
  return (
    <div className={css.chips} role="group" aria-label="Filter tools">
      {offered.map((tag) => (
        <button
          key={tag}
          type="button"
          className={`plain ${css.chip}`}
          aria-pressed={chosen.includes(tag)}
          onClick={() => onChoose(toggled(tag))}
        >
          {WORDS[tag]}{" "}
          <span className={css.count}>{(counts.get(tag) ?? 0).toLocaleString("en")}</span>
        </button>
      ))}
    </div>
  );
});

interface FootProps {
  /** Those that may be offered to a model. */
  items: Item<Tool>[];
  isBySize: boolean;
  onBySize(isBySize: boolean): void;
}

const Foot = memo(function Foot({ items, isBySize, onBySize }: FootProps) {
  const size = useMemo(() => sizeOfAll(items), [items]);
  const words = tokenEstimate(size);
  return (
    <div className={css.foot}>
      <span
        className="grow"
        title={`Names, descriptions and input schemas as JSON: ${size.toLocaleString("en")} characters, at 4 a token`}
      >
        {words[0]?.toUpperCase() + words.slice(1)} for a model
      </span>
      <Button
        size="compact-xs"
        variant={isBySize ? "light" : "default"}
        aria-pressed={isBySize}
        onClick={() => onBySize(!isBySize)}
      >
        Sort by size
      </Button>
    </div>
  );
});

const render = (item: Item<Tool>) => <ToolRow item={item} />;
const drawSized = (item: Item<Tool>) => <SizedRow item={item} />;

export function ToolList({ serverId, chosen }: { serverId: string; chosen: string | null }) {
  const list = useList(serverId, "tools");
  const items = itemsIn<Tool>(list);
  const [tags, setTags] = usePersistedFilter(`tags.${serverId}`, NO_TAGS, chosen, items, hasTags);
  const [isBySize, setBySize] = useDraft("tools.bySize", false);
  const of = useCallback(
    (found: Item<Tool>[]) => {
      const left = tags.length ? found.filter((item) => hasTags(item, tags)) : found;
      return isBySize ? biggestFirst(left) : left;
    },
    [tags, isBySize],
  );
  const offered = useMemo(() => items.slice(0, list.count), [items, list.count]);
  const marks = tags.map((tag) => `“${WORDS[tag]}”`).join(", ");
  const words = tags.length ? `Only tools marked ${marks} are shown.` : null;
  return (
    <CatalogList
      serverId={serverId}
      kind="tools"
      label="Tools"
      chosen={chosen}
      render={isBySize ? drawSized : render}
      narrowing={{
        of,
        words,
        onClear: () => setTags(NO_TAGS),
        order: isBySize ? "size" : "listed",
      }}
      head={<Chips items={items} chosen={tags} onChoose={setTags} />}
      foot={<Foot items={offered} isBySize={isBySize} onBySize={setBySize} />}
    />
  );
}
