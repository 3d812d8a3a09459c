// The offer to show the bytes of an event without masks, after a question. They are in the state of
// the one view that shows them, and gone when it is closed.
import { useState } from "react";
import type { WholeEvent } from "../api/types";
import { Callout } from "../components/Callout";
import { SmallButton } from "../components/SmallButton";
import { command } from "../state/commands";
import { errorMessage } from "../values/format";
import { bytesOfBase64 } from "../values/json";

interface Props {
  whole: WholeEvent;
  isShown: boolean;
  /** The exact bytes; null for the masked ones. */
  onShow(data: Uint8Array | null): void;
}

type Step = { is: "offered" | "asking" } | { is: "failed"; problem: string };

export function ExactBytes({ whole, isShown, onShow }: Props) {
  const [step, setStep] = useState<Step>({ is: "offered" });
  if (!whole.has_exact && !isShown)
    return <p className="dim">The exact bytes were not recorded.</p>;
  const { run_id, seq } = whole.event;
  const offer = (): void => setStep({ is: "offered" });
  const reveal = (): void => {
    command("RevealBytes", { run_id, seq }).then(
      ({ base64 }) => {
        onShow(bytesOfBase64(base64));
        offer();
      },
      (thrown: unknown) => setStep({ is: "failed", problem: errorMessage(thrown) }),
    );
  };
  if (step.is === "failed") return <Callout>{step.problem}</Callout>;
  return (
    <div className="row wrap">
      {isShown ? (
        <>
          <span>These are the exact bytes.</span>
          <SmallButton onClick={() => onShow(null)}>Hide</SmallButton>
        </>
      ) : step.is === "asking" ? (
        <>
          <span>Show what is masked? Anyone who sees this screen can read it.</span>
          <SmallButton onClick={reveal}>Show</SmallButton>
          <SmallButton onClick={offer}>Cancel</SmallButton>
        </>
      ) : (
        <SmallButton onClick={() => setStep({ is: "asking" })}>Show exact bytes</SmallButton>
      )}
    </div>
  );
}
