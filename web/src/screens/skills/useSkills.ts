// The skills of a server and what was verified of them. Nothing is read before a person asks.
import { useCallback, useEffect, useState } from "react";
import type { ErrorView, FileVerdict, ServerView, SkillListView } from "../../api/types";
import { useBusy } from "../../components/useBusy";
import { command } from "../../state/commands";
import { errorViewOf, withWaitingToast } from "../../state/toasts";
import { type Verdicts, verdictKey } from "./skillStatus";

export interface Skills {
  list: SkillListView | null;
  error: ErrorView | null;
  isBusy: boolean;
  verdicts: Verdicts;
  refresh(): void;
  /** Read and verify every file of a skill, or of all. */
  verify(uri: string | null): void;
  note(verdicts: FileVerdict[]): void;
}

const NONE: Verdicts = new Map();

export function useSkills(server: ServerView | undefined): Skills {
  const [list, setList] = useState<SkillListView | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  const [verdicts, setVerdicts] = useState<Verdicts>(NONE);
  const { isBusy, run } = useBusy();
  const server_id = server?.server_id ?? "";
  const isConnected = server?.state === "CONNECTED";
  const load = useCallback(
    async (refresh: boolean): Promise<void> => {
      try {
        setList(await command("ListSkills", { server_id, refresh }));
        setError(null);
        if (refresh) setVerdicts(NONE);
      } catch (thrown) {
        setError(errorViewOf(thrown));
      }
    },
    [server_id],
  );
  const since = server?.since;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each connection has a list of its own
  useEffect(() => {
    if (isConnected) void load(false);
  }, [load, isConnected, since]);
  const note = useCallback((found: FileVerdict[]): void => {
    setVerdicts((known) => {
      const next = new Map(known);
      for (const one of found) next.set(verdictKey(one.skill, one.path), one);
      return next;
    });
  }, []);
  const verify = (uri: string | null): void =>
    run(async () => {
      const work = command("VerifySkills", { server_id, uri });
      const reply = await withWaitingToast("the files of skills", "Skills were not verified", work);
      if (reply) note(reply.verdicts);
    });
  return {
    list,
    error,
    isBusy,
    verdicts,
    refresh: () => run(() => load(true)),
    verify,
    note,
  };
}
