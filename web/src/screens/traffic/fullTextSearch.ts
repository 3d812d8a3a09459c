// Words that stand deep in messages: the page holds how a message begins, mcplens all of it.
import { useEffect, useMemo, useState } from "react";
import { fetchMatches } from "../../api/http";
import type { EventRing } from "../../state/events";
import { searchWords } from "./trafficFilter";

/** Where each word (in lower case) stands. */
export type SearchMatches = ReadonlyMap<string, ReadonlySet<number>>;

export interface SearchState {
  found: SearchMatches;
  isSearching: boolean;
}

const NOTHING: SearchMatches = new Map();
// A single letter stands in every message, at its beginning too.
const SHORTEST = 2;
// Each is a pass over the run.
const MOST_WORDS = 6;
const TYPING_MS = 150;
// How often new messages are looked at.
const AGAIN_MS = 500;

type Fetch = typeof fetchMatches;

/** What is known of the words in one run; asked for again, it looks at what is new. */
export class FullTextSearch {
  found = new Map<string, Set<number>>();
  private after = new Map<string, number>();
  private readonly calledOff = new AbortController();

  constructor(
    private readonly runId: string,
    readonly words: string[],
    private readonly fetch: Fetch = fetchMatches,
  ) {}

  /** Look at what came since; whether anything was found. */
  async look(): Promise<boolean> {
    const news = await Promise.all(this.words.map((word) => this.ask(word)));
    if (!news.some(Boolean)) return false;
    this.found = new Map(this.found);
    return true;
  }

  /** Nobody waits for it any longer. */
  stop(): void {
    this.calledOff.abort();
  }

  private async ask(word: string): Promise<boolean> {
    const after = String(this.after.get(word) ?? 0);
    const query = { run: this.runId, text: word, ignore_case: "1", after };
    const { seqs, last_seq } = await this.fetch(query, this.calledOff.signal);
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
      // What cannot be searched is still filtered by what the page has of it.
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
