// Edits one saved call.
import { Autocomplete, Button, Input, Modal, Select, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { CollectionView, ErrorView, StepView } from "../../api/types";
import { NameAndDescription } from "../../calls/SavedCallFields";
import { Callout } from "../../components/Callout";
import { CodeEditor } from "../../components/CodeEditor";
import { ErrorNote } from "../../components/ErrorNote";
import { useBusy } from "../../components/useBusy";
import { command } from "../../state/commands";
import { useInspector } from "../../state/store";
import { errorViewOf } from "../../state/toasts";
import { indentJson } from "../../values/exactJson";
import { isChangedOnDisk } from "./collections";

const KINDS: { value: StepView["kind"]; label: string }[] = [
  { value: "call", label: "Tool" },
  { value: "read", label: "Resource" },
  { value: "prompt", label: "Prompt" },
  { value: "request", label: "Method" },
];

interface Props {
  view: CollectionView;
  step: StepView;
  /** Reads the file again; what was typed stays. */
  onReload(): Promise<void>;
  onSaved(view: CollectionView): void;
  onClose(): void;
}

export function StepDialog({ view, step, onReload, onSaved, onClose }: Props) {
  const [name, setName] = useState(step.name);
  const [description, setDescription] = useState(step.description);
  const [serverId, setServerId] = useState(
    step.server_id === view.server_id ? "" : (step.server_id ?? ""),
  );
  const [kind, setKind] = useState(step.kind);
  const [target, setTarget] = useState(step.target);
  const [given, setGiven] = useState(indentJson(step.arguments));
  const [error, setError] = useState<ErrorView | null>(null);
  const servers = useInspector((state) => state.servers);
  const { isBusy, run } = useBusy();
  const save = async (): Promise<void> => {
    try {
      const saved = await command("EditSavedCall", {
        key: view.key,
        digest: view.digest,
        index: step.index,
        name,
        description,
        server_id: serverId,
        kind,
        target,
        arguments: given,
      });
      onSaved(saved);
      onClose();
    } catch (thrown) {
      const view = errorViewOf(thrown);
      setError(view);
      if (isChangedOnDisk(view)) await onReload();
    }
  };
  const submit = (form: FormEvent): void => {
    form.preventDefault();
    run(save);
  };
  return (
    <Modal opened onClose={onClose} title={`Edit ${step.name}`} size="lg">
      <form className="stack" onSubmit={submit}>
        <NameAndDescription
          name={name}
          description={description}
          setName={setName}
          setDescription={setDescription}
        />
        <div className="row wrap" style={{ alignItems: "flex-end" }}>
          <Select
            label="Calls a"
            w={120}
            allowDeselect={false}
            data={KINDS}
            value={kind}
            onChange={(value) => value && setKind(value)}
          />
          <TextInput
            label="Name or URI"
            className="grow"
            value={target}
            onChange={(change) => setTarget(change.currentTarget.value)}
          />
        </div>
        <Autocomplete
          label="Server"
          description={
            view.server_id
              ? `Empty: ${view.server_id}, as for the whole file`
              : "The name of a configured server"
          }
          data={[...servers.keys()]}
          value={serverId}
          onChange={setServerId}
        />
        <Input.Wrapper
          label="Arguments"
          labelElement="div"
          description={
            <>
              JSON. <code>$&#123;NAME&#125;</code> is a variable, <code>$$&#123;</code> a literal{" "}
              <code>$&#123;</code>.
            </>
          }
        >
          <CodeEditor label="Arguments as JSON" value={given} onChange={setGiven} height={180} />
        </Input.Wrapper>
        {isChangedOnDisk(error) ? (
          <Callout>
            Another program changed this file. It was read again: Save now writes your values over
            the call as it is there, which is “{step.name}”. Cancel keeps the file.
          </Callout>
        ) : (
          error && <ErrorNote error={error} title="It was not saved" />
        )}
        <div className="row">
          <span className="dim grow">
            {!name.trim() ? "Enter a name" : !target.trim() && "Enter what it calls"}
          </span>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={!name.trim() || !target.trim()}>
            Save
          </Button>
        </div>
      </form>
    </Modal>
  );
}
