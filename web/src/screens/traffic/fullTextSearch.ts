// Full-text search by the backend: the page has only the beginning of each message.
import { useEffect, useMemo, useState } from "react";
import { fetchMatches } from "../../api/http";
import type { EventRing } from "../../state/events";
import { searchWords } from "./trafficFilter";

/** By lowercased word, the seqs of events that contain it. */
export type SearchMatches = ReadonlyMap<string, ReadonlySet<number>>;

export interface SearchState {
  found: SearchMatches;
  isSearching: boolean;
}

const NOTHING: SearchMatches = new Map();
// A single letter is in almost every message.
const SHORTEST = 2;
// Each word is a scan of the run.
const MOST_WORDS = 6;
const TYPING_MS = 150;
// Interval of searching new messages.
const AGAIN_MS = 500;

type Fetch = typeof fetchMatches;

/** Incremental search for words in one run. */
export class FullTextSearch {
  found = new Map<string, Set<number>>();
  private after = new Map<string, number>();
  private readonly aborting = new AbortController();

  constructor(
    private readonly runId: string,
    readonly words: string[],
    private readonly fetch: Fetch = fetchMatches,
  ) {}

  /** Search the new events; returns whether anything was found. */
  async look(): Promise<boolean> {
    const news = await Promise.all(this.words.map((word) => this.ask(word)));
    if (!news.some(Boolean)) return false;
    this.found = new Map(this.found);
    return true;
  }

  /** Cancel pending requests. */
  stop(): void {
    this.aborting.abort();
  }

  private async ask(word: string): Promise<boolean> {
    const after = String(this.after.get(word) ?? 0);
    const query = { run: this.runId, text: word, ignore_case: "1", after };
    const { seqs, last_seq } = await this.fetch(query, this.aborting.signal);
    this.after.set(word, last_seq);
    const key = word.toLowerCase();
    const known = this.found.get(key) ?? new Set();
    for (const seq of seqs) known.add(seq);
    this.found.set(key, known);
    return seqs.length > 0;
  }
}

export function useFullTextSearch(text: string, runId: string | null, of: EventRing): SearchState {
  const asked = useMemo(
    () =>
      searchWords(text)
        .filter((word) => word.length >= SHORTEST)
        .slice(0, MOST_WORDS)
        .join(" "),
    [text],
  );
  const [search, setSearch] = useState<SearchState>({ found: NOTHING, isSearching: false });
  useEffect(() => {
    if (!asked || runId === null) return setSearch({ found: NOTHING, isSearching: false });
    const searching = new FullTextSearch(runId, asked.split(" "));
    let isGone = false;
    let timer = 0;
    let seen: number | null = null;
    const look = async (): Promise<void> => {
      const last = of.lastSeq;
      // If the search fails, rows are still filtered by what the page has.
      const isNew = last !== seen && (await searching.look().catch(() => false));
      if (isGone) return;
      if (isNew || seen === null) setSearch({ found: searching.found, isSearching: false });
      seen = last;
      timer = window.setTimeout(() => void look(), AGAIN_MS);
    };
    setSearch(({ found }) => ({ found, isSearching: true }));
    timer = window.setTimeout(() => void look(), TYPING_MS);
    return () => {
      isGone = true;
      searching.stop();
      window.clearTimeout(timer);
    };
  }, [asked, runId, of]);
  return search;
}
