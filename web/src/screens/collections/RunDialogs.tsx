// What is asked before a run: whether a file from elsewhere may be run, values of variables, and
// whether tools may change something. One dialog at a time, in this order.
import { Button, Checkbox, Modal, PasswordInput, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import type { CollectionView, RunPlanView, VariableView } from "../../api/types";
import { Callout } from "../../components/Callout";
import css from "./Collections.module.css";

interface DialogProps {
  title: string;
  confirm: string;
  /** Why it cannot be confirmed yet. */
  missing?: string | null;
  /** Whether Enter confirms at once. */
  isFocused?: boolean;
  children: ReactNode;
  onConfirm(): void;
  onClose(): void;
}

function Dialog(props: DialogProps) {
  const { title, confirm, missing = null, isFocused, children, onConfirm, onClose } = props;
  const submit = (form: FormEvent): void => {
    form.preventDefault();
    if (missing === null) onConfirm();
  };
  return (
    <Modal opened onClose={onClose} title={title}>
      <form className="stack" onSubmit={submit}>
        {children}
        <div className="row">
          <span className="dim grow">{missing}</span>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={missing !== null} data-autofocus={isFocused || undefined}>
            {confirm}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

const Names = ({ label, names }: { label: string; names: string[] }) => (
  <>
    <dt>{label}</dt>
    <dd className="mono">{names.join(", ") || "none"}</dd>
  </>
);

/** The servers and variables of a file that was not written here. */
export function ConfirmFile(props: { view: CollectionView; onConfirm(): void; onClose(): void }) {
  const { view, ...rest } = props;
  return (
    <Dialog title={`Use ${view.name}?`} confirm="Use this file" {...rest}>
      <Callout>
        This file was not written by mcplens on this computer. Its calls go to the servers below,
        with the values of these variables. Look at its calls first.
      </Callout>
      <dl className="facts">
        <dt>File</dt>
        <dd className="mono">{view.path}</dd>
        <Names label="Servers" names={view.servers} />
        <Names label="Variables" names={view.variables.map((one) => one.name)} />
      </dl>
      <span className="dim">You are asked again when its content changes.</span>
    </Dialog>
  );
}

interface ValuesProps {
  title: string;
  confirm: string;
  variables: VariableView[];
  onConfirm(values: Record<string, string>): void;
  onClose(): void;
}

/** Asks for values; they stay in memory until mcplens ends. */
export function AskValues({ title, confirm, variables, onConfirm, onClose }: ValuesProps) {
  const [values, setValues] = useState<Record<string, string>>({});
  const isReady = variables.every(({ name }) => name in values);
  return (
    <Dialog
      title={title}
      confirm={confirm}
      missing={isReady ? null : "Enter all values"}
      onConfirm={() => onConfirm(values)}
      onClose={onClose}
    >
      {variables.map(({ name, is_secret }, index) => {
        const Field = is_secret ? PasswordInput : TextInput;
        return (
          <Field
            key={name}
            label={name}
            autoComplete="off"
            data-autofocus={index === 0 || undefined}
            value={values[name] ?? ""}
            onChange={(change) => setValues({ ...values, [name]: change.currentTarget.value })}
          />
        );
      })}
      <span className="dim">
        Values are kept in memory until mcplens ends, and never written to a file. Set the
        environment variable instead to keep one.
      </span>
    </Dialog>
  );
}

interface ChangesProps {
  plan: RunPlanView;
  /** Whether one call is run, which was chosen by itself: no tick is needed. */
  isSingle: boolean;
  onConfirm(): void;
  onClose(): void;
}

/** Tools that are not marked as read-only. */
export function AskChanges({ plan, isSingle, ...rest }: ChangesProps) {
  const [isSure, setSure] = useState(isSingle);
  const [first, ...more] = plan.changing;
  const title = isSingle ? "Run this call?" : "Run these calls?";
  return (
    <Dialog
      title={title}
      confirm="Run"
      missing={isSure ? null : "Tick the box to run"}
      isFocused={isSingle}
      {...rest}
    >
      {more.length === 0 ? (
        <span>
          <span className="mono">{first}</span> may change something: its server does not mark it as
          read-only.
        </span>
      ) : (
        <>
          <span>These may change something: their servers do not mark them as read-only.</span>
          <ul className={`mono ${css.changing}`}>
            {plan.changing.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </>
      )}
      {isSingle ? (
        <span className="dim">You are asked again when the file changes.</span>
      ) : (
        <Checkbox
          label={more.length === 0 ? "Run it anyway" : "Run them anyway"}
          checked={isSure}
          onChange={(change) => setSure(change.currentTarget.checked)}
          data-autofocus
        />
      )}
    </Dialog>
  );
}
