// Rows of Traffic as a tree: requests with the events that they caused. Appended rows are added
// incrementally.
import type { EventView } from "../../api/types";
import { indexOfSeq } from "../../values/seqIndex";

type ParentOf = (event: EventView) => EventView | undefined;

// With more new rows than this a rebuild is cheaper.
const MOST_ADDED = 1_000;
// The cause of a question may be known only shortly after it.
const UNSETTLED = 32;

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
    private readonly parentOf: ParentOf,
    private readonly closed: ReadonlySet<number>,
  ) {}

  /** Update with sorted rows; appended rows are cheap. */
  refresh(source: EventView[]): this {
    if (source === this.source && source.length === this.seen) return this;
    const fresh = source.length - this.seen;
    if (source !== this.source || fresh < 0 || fresh > MOST_ADDED || !this.isSettled()) {
      this.build(source);
    } else for (let at = this.seen; at < source.length; at += 1) this.add(source[at] as EventView);
    this.source = source;
    this.seen = source.length;
    return this;
  }

  levelOf = (event: EventView): number => this.levels.get(event.seq) ?? 0;

  /** Whether a row is expanded; undefined without children. */
  isOpen = (event: EventView): boolean | undefined =>
    this.children.has(event.seq) ? !this.closed.has(event.seq) : undefined;

  private isSettled(): boolean {
    for (let at = this.seen - 1; at >= Math.max(0, this.seen - UNSETTLED); at -= 1) {
      const event = this.source[at] as EventView;
      const parent = this.parentOf(event);
      if (parent && !this.children.get(parent.seq)?.includes(event)) return false;
    }
    return true;
  }

  private build(source: EventView[]): void {
    this.levels.clear();
    this.children.clear();
    this.borrowed.clear();
    const roots: EventView[] = [];
    for (const event of source) if (!this.climb(event, source, roots)) roots.push(event);
    if (this.borrowed.size) roots.sort(inOrder);
    this.rows = [];
    for (const root of roots) this.draw(root, 0);
  }

  /** Attach an event to its parent, and missing parents to theirs. */
  private climb(event: EventView, source: EventView[], roots: EventView[]): boolean {
    let child = event;
    for (let parent = this.parentOf(child); parent; parent = this.parentOf(child)) {
      this.adopt(parent, child);
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

  private draw(event: EventView, level: number): void {
    this.rows.push(event);
    if (level) this.levels.set(event.seq, level);
    if (this.closed.has(event.seq)) return;
    for (const child of this.children.get(event.seq) ?? []) this.draw(child, level + 1);
  }

  /** Append the newest row. */
  private add(event: EventView): void {
    const parent = this.parentOf(event);
    if (!parent) {
      this.rows.push(event);
      return;
    }
    const isThere = this.borrowed.has(parent.seq) || indexOfSeq(this.source, parent.seq) >= 0;
    if (!isThere) {
      // A filtered-out parent is appended first.
      this.borrowed.add(parent.seq);
      this.add(parent);
    }
    this.adopt(parent, event);
    const at = this.rows.lastIndexOf(parent);
    if (at < 0 || this.closed.has(parent.seq)) return;
    const level = this.levelOf(parent) + 1;
    let end = at + 1;
    while (end < this.rows.length && this.levelOf(this.rows[end] as EventView) >= level) end += 1;
    this.rows.splice(end, 0, event);
    this.levels.set(event.seq, level);
  }
}

/** The root of an event's tree. */
export function rootOf(event: EventView, parentOf: ParentOf): EventView {
  let root = event;
  for (let parent = parentOf(root); parent; parent = parentOf(root)) root = parent;
  return root;
}
