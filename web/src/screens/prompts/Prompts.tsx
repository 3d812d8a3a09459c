// The prompts of a server: arguments as a form with suggestions, and the messages they give.
import { Button } from "@mantine/core";
import { useDeferredValue, useMemo, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import type { ErrorView, ServerView } from "../../api/types";
import { CallPanel } from "../../calls/CallPanel";
import { Callout } from "../../parts/Callout";
import { Empty } from "../../parts/Empty";
import { ErrorNote } from "../../parts/ErrorNote";
import { Icon } from "../../parts/icons";
import { ListHead } from "../../parts/ListHead";
import { ListStatus } from "../../parts/ListStatus";
import { LostNote } from "../../parts/LostNote";
import { NotConnected } from "../../parts/NotConnected";
import { Split } from "../../parts/Split";
import { useRunKey } from "../../parts/useRunKey";
import { VirtualList } from "../../parts/VirtualList";
import { viewOf } from "../../state/actions";
import { startCall } from "../../state/connection";
import { fitting, type Item, type Prompt, titleOf } from "../../state/items";
import { itemsIn, offers, useList } from "../../state/lists";
import { useDraft } from "../../state/remembered";
import { pathTo } from "../../state/selection";
import { useInspector } from "../../state/store";
import { Problem } from "../tools/ToolRow";
import { useCallsOf, useHasCalls } from "../tools/useToolCalls";
import { SuggestedField } from "./SuggestedField";

const keyOf = (item: Item<Prompt>): string => item.key;

const draw = (item: Item<Prompt>) => (
  <>
    <div className="row">
      <Problem text={item.problem} />
      <span className="cut" style={{ fontWeight: 500 }}>
        {titleOf(item.value, item.key)}
      </span>
    </div>
    <span className="cut dim">{item.value.description ?? ""}</span>
  </>
);

function PromptPanel({
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
  const { current, show } = useCallsOf(server.server_id, "prompt", name);
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
            <Link to={pathTo(server.server_id, "prompts")} className="dim">
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
        current ? (
          <CallPanel key={current.call_id} call={current} onRepeated={show} />
        ) : (
          <Empty icon="prompts" title="No messages yet">
            Fill in the arguments and get the messages of this prompt.
          </Empty>
        )
      }
    />
  );
}

export function Prompts() {
  const { server: serverId = "", item } = useParams();
  const navigate = useNavigate();
  const server = useInspector((state) => state.servers.get(serverId));
  const list = useList(serverId, "prompts");
  const items = itemsIn<Prompt>(list);
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text);
  const shown = useMemo(() => fitting(items, wanted), [items, wanted]);
  const hasCalls = useHasCalls(serverId, "prompt");
  const isConnected = server?.state === "CONNECTED";
  if (!server || (!isConnected && !list.isThere && !hasCalls))
    return <NotConnected server={server} icon="prompts" />;
  if (isConnected && !offers(server.capabilities, "prompts")) {
    return (
      <Empty icon="prompts" title="This server offers no prompts">
        It did not declare the prompts capability.
      </Empty>
    );
  }
  const found = items.find((one) => one.key === item);
  const prompt: Prompt | null =
    found?.value ?? (item && !isConnected ? { name: item, arguments: [] } : null);
  return (
    <div className="pane">
      <h1 className="sr">Prompts of {serverId}</h1>
      <LostNote server={server} />
      <Split
        name="prompts.list"
        label="Width of the list"
        initial={300}
        least={200}
        most={600}
        narrow={item ? "second" : "first"}
        first={
          <div className="pane">
            <ListHead
              serverId={serverId}
              kinds={["prompts"]}
              noun="prompts"
              text={text}
              onText={setText}
            />
            <ListStatus
              serverId={serverId}
              kind="prompts"
              list={list}
              shown={shown.length}
              hasSwitch
            />
            <VirtualList
              label="Prompts"
              items={shown}
              keyOf={keyOf}
              chosen={item ?? null}
              onChoose={(one) => void navigate(pathTo(serverId, "prompts", keyOf(one)))}
              rowHeight={42}
              draw={draw}
            />
          </div>
        }
        second={
          prompt ? (
            <PromptPanel
              key={`${serverId} ${item}`}
              server={server}
              prompt={prompt}
              problem={found?.problem ?? null}
            />
          ) : (
            <Empty icon="prompts" title="Choose a prompt">
              Its arguments and the messages that it makes appear here.
            </Empty>
          )
        }
      />
    </div>
  );
}
