// The steps of a sign-in as a checklist, live; each opens to its request and response.
import { Loader } from "@mantine/core";
import { useState } from "react";
import type { SignInRunView, SignInStepView, StepState } from "../../api/types";
import { Icon } from "../../components/Icon";
import { formatDuration } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import css from "./Auth.module.css";
import { lacksClient } from "./SignInForms";
import { StepDetail } from "./StepDetail";

const WORDS: Record<StepState, string> = {
  pending: "not begun",
  paused: "waits to be continued",
  started: "under way",
  waiting: "waits for you",
  done: "done",
  failed: "failed",
};

function Mark({ state }: { state: StepState }) {
  return (
    <span className={css.mark}>
      {state === "done" && <Icon name="check" />}
      {state === "failed" && <Icon name="close" />}
      {(state === "started" || state === "waiting") && <Loader size={14} color="yellow" />}
      {state === "paused" && <Icon name="play" />}
      {state === "pending" && <span className={css.dot} />}
      <span className="sr">{WORDS[state]}</span>
    </span>
  );
}

interface StepProps {
  serverId: string;
  step: SignInStepView;
  /** What to do about a step that failed. */
  hint: string | null;
  canEnterClient: boolean;
}

function Step({ serverId, step, hint, canEnterClient }: StepProps) {
  // What failed is open until a person closes it.
  const [toggled, setToggled] = useState<boolean | null>(null);
  const isOpen = toggled ?? step.state === "failed";
  const hasMore = step.exchange_ids.length > 0 || step.text !== "" || step.notes.length > 0;
  const { started, ended } = step;
  const took = started !== null && ended !== null ? formatDuration(ended - started) : null;
  return (
    <li className={css.step} data-state={step.state}>
      <button
        type="button"
        className={`plain ${css.head}`}
        aria-expanded={hasMore ? isOpen : undefined}
        aria-disabled={!hasMore}
        onClick={() => hasMore && setToggled(!isOpen)}
      >
        <Mark state={step.state} />
        <span className={css.words}>
          <span className={css.what}>{step.title}</span>
          {/* What is open says it beside what was expected. */}
          {!isOpen && <span className={css.came}>{visible(step.text)}</span>}
        </span>
        <span className="dim mono">{took}</span>
        <span className={css.chevron} data-open={isOpen}>
          {hasMore && <Icon name="chevron" size={12} />}
        </span>
      </button>
      {isOpen && hasMore && (
        <StepDetail serverId={serverId} step={step} hint={hint} canEnterClient={canEnterClient} />
      )}
    </li>
  );
}

interface Props {
  serverId: string;
  run: SignInRunView;
  label: string;
  /** Whether this is the newest sign-in, whose failure can be mended here. */
  isNewest?: boolean;
}

const hintOf = (run: SignInRunView): string | null => {
  const hint = run.error?.details.hint;
  return typeof hint === "string" && hint !== "" ? hint : null;
};

export function Checklist({ serverId, run, label, isNewest = false }: Props) {
  const hint = hintOf(run);
  return (
    <ol className={css.steps} aria-label={label}>
      {run.steps.map((step, index) => (
        <Step
          key={`${step.step} ${index}`}
          serverId={serverId}
          step={step}
          hint={step.state === "failed" ? hint : null}
          canEnterClient={isNewest && step.state === "failed" && lacksClient(run)}
        />
      ))}
    </ol>
  );
}
