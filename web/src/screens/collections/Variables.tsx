// The variables of a collection: where their values come from; they can be typed and forgotten.
import { Button } from "@mantine/core";
import { useState } from "react";
import type { VariableView } from "../../api/types";
import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";
import css from "./Collections.module.css";
import { AskValues } from "./RunDialogs";

const SOURCES = { typed: "typed, until mcplens ends", environment: "from the environment" };

interface Props {
  variables: VariableView[];
  onChanged(): void;
}

export function Variables({ variables, onChanged }: Props) {
  const [asked, setAsked] = useState<VariableView | null>(null);
  const set = async (values: Record<string, string | null>): Promise<void> => {
    await withErrorToast("The value was not set", command("SetVariables", { values }));
    onChanged();
  };
  if (variables.length === 0) return null;
  return (
    <section className={`stack tight ${css.variables}`} aria-label="Variables">
      <h3 className="section-title">Variables</h3>
      {variables.map((one) => (
        <div key={one.name} className="row wrap">
          <span className="mono">{one.name}</span>
          <span className={one.source ? "dim" : "bad"}>
            {one.source ? SOURCES[one.source] : "not set"}
            {one.is_secret && ", masked in the recording from 8 characters on"}
          </span>
          <Button
            size="compact-xs"
            variant="subtle"
            aria-label={`${one.source === "typed" ? "Change" : "Type a value for"} ${one.name}`}
            onClick={() => setAsked(one)}
          >
            {one.source === "typed" ? "Change" : "Type a value"}
          </Button>
          {one.source === "typed" && (
            <Button
              size="compact-xs"
              variant="subtle"
              color="gray"
              aria-label={`Forget ${one.name}`}
              onClick={() => void set({ [one.name]: null })}
            >
              Forget
            </Button>
          )}
        </div>
      ))}
      {asked && (
        <AskValues
          title={`Value of ${asked.name}`}
          confirm="Keep"
          variables={[asked]}
          onClose={() => setAsked(null)}
          onConfirm={(values) => {
            setAsked(null);
            void set(values);
          }}
        />
      )}
    </section>
  );
}
