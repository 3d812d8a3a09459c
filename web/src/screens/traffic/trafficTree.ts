// Rows of Traffic as a tree: requests with the events that they caused. What is shown in the row of
// its parent, as an answer in that of its request, has none of its own. Appended rows are added
// incrementally.
import type { EventView } from "../../api/types";
import { indexOfSeq } from "../../values/seqIndex";

type ParentOf = (event: EventView) => EventView | undefined;

// With more new rows than this, and than a share of those that are there, a rebuild is cheaper.
const MOST_ADDED = 1_000;
const MOST_SHARE = 0.25;

const inOrder = (one: EventView, other: EventView): number => one.seq - other.seq;

export class TrafficTree {
  /** Visible rows, from top to bottom. */
  rows: EventView[] = [];
  /** Depth of a row; 0 if it is not in the map. */
  readonly levels = new Map<number, number>();
  readonly children = new Map<number, EventView[]>();
  private source: EventView[] = [];
  private seen = 0;
  /** Filtered-out parents that are shown because of their children. */
  private readonly borrowed = new Set<number>();

  constructor(
    readonly parentOf: ParentOf,
    private readonly isClosed: (event: EventView) => boolean = () => false,
    /** Whether an event is shown in the row of its parent. */
    private readonly isMerged: (event: EventView) => boolean = () => false,
  ) {}

  /** Update with sorted rows; appended rows are cheap. */
  refresh(source: EventView[]): this {
    if (source === this.source && source.length === this.seen) return this;
    const fresh = source.length - this.seen;
    const most = Math.max(MOST_ADDED, this.seen * MOST_SHARE);
    if (source !== this.source || fresh < 0 || fresh > most) {
      this.build(source);
    } else for (let at = this.seen; at < source.length; at += 1) this.add(source[at] as EventView);
    this.source = source;
    this.seen = source.length;
    return this;
  }

  levelOf = (event: EventView): number => this.levels.get(event.seq) ?? 0;

  /** Whether a row is expanded; undefined without children. */
  isOpen = (event: EventView): boolean | undefined =>
    this.children.has(event.seq) ? !this.isClosed(event) : undefined;

  private build(source: EventView[]): void {
    this.levels.clear();
    this.children.clear();
    this.borrowed.clear();
    const roots: EventView[] = [];
    for (const event of source) if (!this.climb(event, source, roots)) roots.push(event);
    if (this.borrowed.size) roots.sort(inOrder);
    this.rows = [];
    for (const root of roots) this.draw(root);
  }

  /** Attach an event to its parent, and missing parents to theirs. */
  private climb(event: EventView, source: EventView[], roots: EventView[]): boolean {
    let child = event;
    let isMerged = this.isMerged(event);
    for (let parent = this.parentOf(child); parent; parent = this.parentOf(child)) {
      if (!isMerged) this.adopt(parent, child);
      isMerged = false;
      if (this.borrowed.has(parent.seq) || indexOfSeq(source, parent.seq) >= 0) return true;
      this.borrowed.add(parent.seq);
      child = parent;
    }
    if (child !== event) roots.push(child);
    return child !== event;
  }

  private adopt(parent: EventView, child: EventView): void {
    const siblings = this.children.get(parent.seq);
    if (!siblings) this.children.set(parent.seq, [child]);
    else {
      siblings.push(child);
      if ((siblings.at(-2)?.seq ?? 0) > child.seq) siblings.sort(inOrder);
    }
  }

  /** Not by recursion: an imported trace may nest as deep as it likes. */
  private draw(root: EventView): void {
    const waiting = [root];
    for (let event = waiting.pop(); event; event = waiting.pop()) {
      this.rows.push(event);
      if (this.isClosed(event)) continue;
      const children = this.children.get(event.seq) ?? [];
      for (const child of children) this.levels.set(child.seq, this.levelOf(event) + 1);
      for (const child of children.toReversed()) waiting.push(child);
    }
  }

  /** Add the newest row, or a filtered-out parent of it. */
  private add(event: EventView): void {
    const parent = this.parentOf(event);
    if (!parent) {
      this.rows.splice(this.endOfRoots(event.seq), 0, event);
      return;
    }
    const isThere = this.borrowed.has(parent.seq) || indexOfSeq(this.source, parent.seq) >= 0;
    if (!isThere) {
      this.borrowed.add(parent.seq);
      this.add(parent);
    }
    if (this.isMerged(event)) return;
    this.adopt(parent, event);
    for (let one: EventView | undefined = parent; one; one = this.parentOf(one))
      if (this.isClosed(one)) return;
    this.levels.set(event.seq, this.levelOf(parent) + 1);
    this.rows.splice(this.placeBeneath(parent, event), 0, event);
  }

  /** Where the rows of the roots up to this one end; roots are in order. */
  private endOfRoots(seq: number): number {
    const isAfter = (at: number): boolean => {
      return rootOf(this.rows[at] as EventView, this.parentOf).seq > seq;
    };
    // Most are the newest, and belong at the end.
    if (!this.rows.length || !isAfter(this.rows.length - 1)) return this.rows.length;
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isAfter(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Where a row belongs among its siblings; a borrowed parent is older than some of them. */
  private placeBeneath(parent: EventView, event: EventView): number {
    let end = this.endOfRoots(rootOf(parent, this.parentOf).seq);
    while (end > 0 && !this.isWithin(this.rows[end - 1] as EventView, parent)) end -= 1;
    if (this.children.get(parent.seq)?.at(-1) === event) return end;
    const level = this.levelOf(event);
    let place = end;
    for (let at = end - 1; at >= 0; at -= 1) {
      const row = this.rows[at] as EventView;
      if (this.levelOf(row) < level) break;
      if (this.levelOf(row) !== level) continue;
      if (row.seq < event.seq) break;
      place = at;
    }
    return place;
  }

  /** Whether a row is this one, or beneath it. */
  private isWithin(row: EventView, top: EventView): boolean {
    const level = this.levelOf(top);
    let one: EventView | undefined = row;
    while (one && this.levelOf(one) > level) one = this.parentOf(one);
    return one?.seq === top.seq;
  }
}

/** The root of an event's tree. */
export function rootOf(event: EventView, parentOf: ParentOf): EventView {
  let root = event;
  for (let parent = parentOf(root); parent; parent = parentOf(root)) root = parent;
  return root;
}
