// Runs calls of a collection: asks what must be settled first, then starts.
import { type ReactNode, useMemo, useState } from "react";
import type { CollectionRunView, CollectionView, RunPlanView } from "../../api/types";
import { command } from "../../state/commands";
import { useInspector } from "../../state/store";
import { withErrorToast, withWaitingToast } from "../../state/toasts";
import { AskChanges, AskValues, ConfirmFile } from "./RunDialogs";

interface Asked {
  plan: RunPlanView;
  steps: number[] | null;
}

// Single calls that the user agreed to run, by the content of their file.
const agreed = new Set<string>();

interface Run {
  /** The latest run of this collection. */
  latest: CollectionRunView | null;
  isRunning: boolean;
  /** Null: all steps. */
  start(steps: number[] | null): void;
  stop(cancel: boolean): void;
  dialogs: ReactNode;
}

function useLatest(key: string): CollectionRunView | null {
  const runs = useInspector((state) => state.collectionRuns);
  return useMemo(() => {
    const own = [...runs.values()].filter((run) => run.key === key);
    return own.sort((one, other) => other.started - one.started)[0] ?? null;
  }, [runs, key]);
}

export function useRun(
  view: CollectionView,
  stopsAtFailure: boolean,
  onChanged: (view: CollectionView) => void,
  reload: () => Promise<void>,
): Run {
  const [asked, setAsked] = useState<Asked | null>(null);
  const latest = useLatest(view.key);
  const { key, digest } = view;

  const send = async (steps: number[] | null, mayChange: boolean): Promise<void> => {
    const sent = command("RunCollection", {
      key,
      digest,
      steps,
      may_change: mayChange,
      stops_at_failure: stopsAtFailure,
    });
    const started = await withErrorToast("The calls were not run", sent);
    if (!started) return;
    useInspector.setState(({ collectionRuns }) =>
      // A newer view may have arrived before this reply.
      collectionRuns.has(started.collection_run_id)
        ? {}
        : { collectionRuns: new Map(collectionRuns).set(started.collection_run_id, started) },
    );
  };
  const plan = async (steps: number[] | null): Promise<void> => {
    const found = await withWaitingToast(
      "the servers of these calls",
      "The calls were not run",
      command("PlanRun", { key, digest, steps }),
    );
    if (!found) return void reload();
    const mayChange = steps?.length === 1 && agreed.has(`${digest} ${steps[0]}`);
    const isAsked = found.changing.length > 0 && !mayChange;
    const isClear = !found.needs_confirmation && !found.unset.length && !isAsked;
    if (isClear) await send(steps, mayChange);
    else setAsked({ plan: found, steps });
  };
  const close = (): void => setAsked(null);
  const goOn = async (work: Promise<unknown>): Promise<void> => {
    const steps = asked?.steps ?? null;
    close();
    if ((await withErrorToast("The calls were not run", work)) !== null) await plan(steps);
  };
  const confirmFile = async (): Promise<true> => {
    onChanged(await command("ConfirmCollection", { key, digest }));
    return true;
  };
  const setValues = async (values: Record<string, string>): Promise<true> => {
    await command("SetVariables", { values });
    await reload();
    return true;
  };

  let dialogs: ReactNode = null;
  if (asked?.plan.needs_confirmation)
    dialogs = (
      <ConfirmFile view={view} onClose={close} onConfirm={() => void goOn(confirmFile())} />
    );
  else if (asked?.plan.unset.length)
    dialogs = (
      <AskValues
        title="Values for this run"
        confirm="Continue"
        variables={asked.plan.unset}
        onClose={close}
        onConfirm={(values) => void goOn(setValues(values))}
      />
    );
  else if (asked)
    dialogs = (
      <AskChanges
        plan={asked.plan}
        isSingle={asked.steps?.length === 1}
        onClose={close}
        onConfirm={() => {
          close();
          if (asked.steps?.length === 1) agreed.add(`${digest} ${asked.steps[0]}`);
          void send(asked.steps, true);
        }}
      />
    );
  return {
    latest,
    isRunning: latest !== null && latest.elapsed_s === null,
    start: (steps) => void plan(steps),
    stop: (cancel) => {
      if (!latest) return;
      const { collection_run_id } = latest;
      const stopped = command("StopRun", { collection_run_id, cancel });
      void withErrorToast("The run could not be stopped", stopped);
    },
    dialogs,
  };
}
