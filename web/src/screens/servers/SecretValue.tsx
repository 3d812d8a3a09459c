// A saved secret of a server's entry: masked, to be replaced, or revealed after a question. A
// revealed value lives in this component alone, and is gone when it is hidden or the form is closed.
import { TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { ErrorView } from "../../api/types";
import type { SavedSecret } from "../../components/KeyValueFields";
import { SmallButton } from "../../components/SmallButton";
import { command } from "../../state/commands";
import { errorViewOf } from "../../state/toasts";
import css from "./SecretValue.module.css";

export interface SecretPlace {
  server_id: string;
  /** The key of the entry that holds it. */
  key: "env" | "headers" | "secretKeys";
}

interface Props {
  place: SecretPlace;
  saved: SavedSecret;
  value: string;
  label: string;
  error: string | null;
  onChange(value: string): void;
}

type Step =
  | { is: "masked" | "asking" }
  | { is: "shown"; value: string }
  | { is: "failed"; error: ErrorView };

/** The new value, typed in place of the saved one. */
function Replacement({ saved, value, label, error, onChange }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <div className={css.secret}>
      <TextInput
        ref={field}
        aria-label={label}
        placeholder={`New value of ${saved.name}`}
        value={value}
        error={error}
        autoComplete="off"
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <div className="row wrap">
        <SmallButton onClick={() => onChange(saved.mask)}>Keep the saved value</SmallButton>
      </div>
    </div>
  );
}

export function SecretValue(props: Props) {
  const { place, saved, value, label, error, onChange } = props;
  const [step, setStep] = useState<Step>({ is: "masked" });
  if (value !== saved.mask) return <Replacement {...props} />;
  const reveal = (): void => {
    command("RevealSecret", { ...place, name: saved.name }).then(
      (found) => setStep({ is: "shown", value: found.value }),
      (thrown: unknown) => setStep({ is: "failed", error: errorViewOf(thrown) }),
    );
  };
  const replace = (): void => {
    setStep({ is: "masked" });
    // Part of a value that is in sight can be changed.
    onChange(step.is === "shown" ? step.value : "");
  };
  const hide = (): void => setStep({ is: "masked" });
  return (
    <div className={css.secret}>
      <TextInput
        aria-label={label}
        readOnly
        value={step.is === "shown" ? step.value : saved.mask}
        error={step.is === "failed" ? step.error.message : error}
        styles={{ input: step.is === "shown" ? {} : { color: "var(--ink-2)" } }}
      />
      <div className="row wrap">
        {step.is === "asking" ? (
          <>
            <span>Show it? Anyone who sees this screen can read it.</span>
            <SmallButton onClick={reveal}>Show</SmallButton>
            <SmallButton onClick={hide}>Cancel</SmallButton>
          </>
        ) : (
          <>
            <SmallButton onClick={replace}>Replace</SmallButton>
            {step.is === "shown" ? (
              <SmallButton onClick={hide}>Hide</SmallButton>
            ) : (
              <SmallButton onClick={() => setStep({ is: "asking" })}>Reveal</SmallButton>
            )}
          </>
        )}
      </div>
    </div>
  );
}
