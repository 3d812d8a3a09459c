// One prompt: its arguments as a form with completions, and the resulting messages.
import { useMemo, useState } from "react";
import { Link } from "react-router";
import type { ErrorView, ServerView } from "../../api/types";
import { CallPanel } from "../../calls/CallPanel";
import { CompletionField } from "../../catalog/CompletionField";
import { Definition } from "../../catalog/Definition";
import { FormFooter, Refusal, RunKeys, SendAnyway } from "../../catalog/FormFooter";
import type { MissingItem } from "../../catalog/NotListed";
import { NotListed } from "../../catalog/NotListed";
import { ResultHeading } from "../../catalog/ResultHeading";
import { useItemCalls } from "../../catalog/useItemCalls";
import { ButtonWithReason } from "../../components/ButtonWithReason";
import { Callout } from "../../components/Callout";
import { Description } from "../../components/Description";
import { EmptyState } from "../../components/EmptyState";
import { ErrorNote } from "../../components/ErrorNote";
import { Icon } from "../../components/Icon";
import { FORM_WIDTH, SplitPane } from "../../components/SplitPane";
import { UntrustedText } from "../../components/UntrustedText";
import { useRunShortcut } from "../../components/useRunShortcut";
import { useScrollIntoView } from "../../components/useScrollIntoView";
import { useFocusInvalid } from "../../forms/useFocusInvalid";
import { useDraft } from "../../state/browserStorage";
import { startCall } from "../../state/commands";
import { itemTitle, type Prompt } from "../../state/items";
import { pathTo } from "../../state/navigation";
import { errorViewOf } from "../../state/toasts";

interface Props {
  server: ServerView;
  prompt: Prompt;
  /** Unique key among items of the same name. */
  itemKey: string;
  /** The definition as the server sent it; undefined if it is not in the list. */
  listed?: unknown;
  missing?: MissingItem | null;
  problem: string | null;
}

type Values = Record<string, string>;

function About({ server, prompt, listed, missing = null, problem }: Omit<Props, "itemKey">) {
  return (
    <>
      <Link to={pathTo(server.server_id, "prompts")} className="narrow-only">
        All prompts
      </Link>
      <h2 className="title">
        <UntrustedText>{itemTitle(prompt)}</UntrustedText>
      </h2>
      {prompt.name && itemTitle(prompt) !== prompt.name && (
        <span className="mono dim">
          <UntrustedText>{prompt.name}</UntrustedText>
        </span>
      )}
      {prompt.description && <Description text={prompt.description} />}
      <NotListed missing={missing} />
      {problem && (
        <Callout>The definition of this prompt is broken: {problem} You can still use it.</Callout>
      )}
      <Definition listed={listed} />
    </>
  );
}

interface ArgumentsProps extends Pick<Props, "server" | "prompt"> {
  values: Values;
  /** Names of missing required arguments, after the first attempt to send. */
  missing: string[];
  onChange(values: Values): void;
}

function Arguments({ server, prompt, values, missing, onChange }: ArgumentsProps) {
  const known = new Set(prompt.arguments.map((one) => one.name));
  // Arguments from a replayed request or an older version of the prompt are sent too.
  const others = Object.keys(values).filter((name) => !known.has(name));
  const common = (name: string) => ({
    server,
    reference: { type: "ref/prompt", name: prompt.name ?? "" },
    name,
    values,
    isLong: true,
    onChange: (value: string) => onChange({ ...values, [name]: value }),
  });
  const remove = (name: string): void => {
    const { [name]: _, ...rest } = values;
    onChange(rest);
  };
  return (
    <div className="stack" data-form data-fields="there">
      {prompt.arguments.map((one) => (
        <CompletionField
          key={one.name}
          {...common(one.name)}
          title={one.title}
          description={one.description}
          isRequired={one.required}
          problem={missing.includes(one.name) ? "This is required." : undefined}
        />
      ))}
      {others.map((name) => (
        <CompletionField
          key={name}
          {...common(name)}
          description="Not in the definition of the prompt"
          onRemove={() => remove(name)}
        />
      ))}
    </div>
  );
}

interface FootProps {
  missing: string[];
  isConnected: boolean;
  get(isForced: boolean): void;
}

function Foot({ missing, isConnected, get }: FootProps) {
  return (
    <FormFooter>
      <ButtonWithReason
        data-run
        leftSection={<Icon name="play" size={13} />}
        disabledReason={isConnected ? null : "The server is not connected"}
        onClick={() => get(false)}
      >
        Get the messages
        <RunKeys />
      </ButtonWithReason>
      {missing.length > 0 && (
        <>
          <Refusal>{`${missing.length} missing`}</Refusal>
          <SendAnyway disabled={!isConnected} onClick={() => get(true)} />
        </>
      )}
    </FormFooter>
  );
}

export function PromptPanel(props: Props) {
  const { server, prompt, itemKey } = props;
  const isConnected = server.state === "CONNECTED";
  const name = prompt.name ?? "";
  const [values, setValues] = useDraft<Values>(`prompt.${server.server_id}/${itemKey}`, {});
  const [error, setError] = useState<ErrorView | null>(null);
  const { calls, current, isNamed, show } = useItemCalls(server.server_id, "prompt", itemKey);
  const choice = useMemo(() => ({ calls, onChoose: show }), [calls, show]);
  const place = useScrollIntoView(current?.call_id, isNamed);
  // In the order of the prompt's own arguments, whatever was typed first.
  const names = new Set([...prompt.arguments.map((one) => one.name), ...Object.keys(values)]);
  const given = Object.fromEntries(
    [...names].flatMap((one) => (values[one] ? [[one, values[one]]] : [])),
  );
  const missing = prompt.arguments
    .filter((one) => one.required && !given[one.name])
    .map((one) => one.name);
  // How often sending was refused because of missing arguments.
  const [refused, setRefused] = useState(0);
  const form = useFocusInvalid(refused);
  const told = refused > 0 ? missing : [];
  const get = (isForced: boolean): void => {
    setError(null);
    if (missing.length > 0 && !isForced) {
      setRefused(refused + 1);
      return;
    }
    const asked = { server_id: server.server_id, name, listed_as: itemKey, arguments: given };
    startCall("GetPrompt", asked).then(
      (call) => show(call.call_id),
      (thrown: unknown) => setError(errorViewOf(thrown)),
    );
  };
  useRunShortcut(() => isConnected && get(false));
  const left = (
    <div className="pane">
      <div className="scroll hug pad">
        <div className="stack" ref={form}>
          <About {...props} />
          <Arguments
            server={server}
            prompt={prompt}
            values={values}
            missing={told}
            onChange={setValues}
          />
          {error && <ErrorNote error={error} />}
        </div>
      </div>
      <Foot missing={told} isConnected={isConnected} get={get} />
    </div>
  );
  const right = (
    <div className="pane" ref={place}>
      {current && (
        <ResultHeading
          name={itemTitle(prompt)}
          to={pathTo(server.server_id, "prompts")}
          others="Other prompts"
        />
      )}
      {current ? (
        <CallPanel key={current.call_id} call={current} onRepeated={show} choice={choice} />
      ) : (
        <EmptyState icon="prompts" title="No messages yet">
          {prompt.arguments.length > 0 ? "Fill in the arguments, then get" : "Get"} the messages of
          this prompt.
        </EmptyState>
      )}
    </div>
  );
  return (
    <SplitPane
      name="prompts.call"
      label="Width of the arguments"
      {...FORM_WIDTH}
      narrow="flowing"
      first={left}
      second={right}
    />
  );
}
