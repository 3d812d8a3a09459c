// One prompt: its arguments as a form with suggestions, and the messages they give.
import { Button } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import type { ErrorView, ServerView } from "../../api/types";
import { CallPanel } from "../../calls/CallPanel";
import { Callout } from "../../parts/Callout";
import { Empty } from "../../parts/Empty";
import { ErrorNote } from "../../parts/ErrorNote";
import { Icon } from "../../parts/icons";
import { Split } from "../../parts/Split";
import { useRunKey } from "../../parts/useRunKey";
import { viewOf } from "../../state/actions";
import { startCall } from "../../state/connection";
import { type Prompt, titleOf } from "../../state/items";
import { useDraft } from "../../state/remembered";
import { pathTo } from "../../state/selection";
import { CallChooser } from "../tools/CallChooser";
import { useCallsOf } from "../tools/useToolCalls";
import { SuggestedField } from "./SuggestedField";

export function PromptPanel({
  server,
  prompt,
  problem,
}: {
  server: ServerView;
  prompt: Prompt;
  problem: string | null;
}) {
  const isConnected = server.state === "CONNECTED";
  const name = prompt.name ?? "";
  const [values, setValues] = useDraft<Record<string, string>>(
    `prompt.${server.server_id}/${name}`,
    {},
  );
  const [error, setError] = useState<ErrorView | null>(null);
  const { calls, current, show } = useCallsOf(server.server_id, "prompt", name);
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
  const missing = prompt.arguments.filter((one) => one.required && !given[one.name]);
  const get = (): void => {
    setError(null);
    startCall("GetPrompt", { server_id: server.server_id, name, arguments: given }).then(
      (call) => show(call.call_id),
      (thrown: unknown) => setError(viewOf(thrown)),
    );
  };
  useRunKey(() => isConnected && get());
  return (
    <Split
      name="prompts.call"
      label="Width of the arguments"
      initial={380}
      least={260}
      first={
        <div className="scroll pad" style={{ height: "100%" }}>
          <div className="stack">
            <Link to={pathTo(server.server_id, "prompts")} className="narrow-only">
              All prompts
            </Link>
            <h2 className="title">{titleOf(prompt)}</h2>
            {prompt.description && <p style={{ margin: 0 }}>{prompt.description}</p>}
            {problem && (
              <Callout>The definition of this prompt is broken: {problem} It can be used.</Callout>
            )}
            {prompt.arguments.map((one) => (
              <SuggestedField
                key={one.name}
                server={server}
                reference={{ type: "ref/prompt", name }}
                name={one.name}
                label={one.title}
                description={one.description}
                isRequired={one.required}
                values={values}
                onChange={(value) => setValues({ ...values, [one.name]: value })}
              />
            ))}
            {error && <ErrorNote error={error} />}
            <div className="row">
              <Button
                leftSection={<Icon name="play" size={13} />}
                onClick={get}
                disabled={!isConnected}
              >
                Get the messages
              </Button>
              {missing.length > 0 && (
                <span className="dim">{missing.map((one) => one.name).join(", ")} required</span>
              )}
            </div>
          </div>
        </div>
      }
      second={
        <div className="pane">
          <CallChooser calls={calls} current={current} onChoose={show} />
          {current ? (
            <CallPanel key={current.call_id} call={current} onRepeated={show} />
          ) : (
            <Empty icon="prompts" title="No messages yet">
              Fill in the arguments and get the messages of this prompt.
            </Empty>
          )}
        </div>
      }
    />
  );
}
