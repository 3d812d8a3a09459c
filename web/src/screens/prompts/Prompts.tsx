// The prompts of a server: arguments as a form with suggestions, and the messages they give.
import { Button } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useDeferredValue, useMemo, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import type { ErrorView, ServerView } from "../../api/types";
import { CallPanel } from "../../calls/CallPanel";
import { Empty } from "../../parts/Empty";
import { ErrorNote } from "../../parts/ErrorNote";
import { Icon } from "../../parts/icons";
import { ListHead } from "../../parts/ListHead";
import { LostNote } from "../../parts/LostNote";
import { NotConnected } from "../../parts/NotConnected";
import { Split } from "../../parts/Split";
import { VirtualList } from "../../parts/VirtualList";
import { viewOf } from "../../state/actions";
import { startCall } from "../../state/connection";
import { type Item, offers, useItems, useList } from "../../state/lists";
import { useDraft } from "../../state/remembered";
import { pathTo } from "../../state/selection";
import { useInspector } from "../../state/store";
import { useCallsOf } from "../tools/useToolCalls";
import { SuggestedField } from "./SuggestedField";

interface Prompt {
  name?: string;
  title?: string;
  description?: string;
  arguments?: { name?: string; title?: string; description?: string; required?: boolean }[];
}

const keyOf = (item: Item<Prompt>): string => item.value.name ?? "";

function PromptPanel({ server, prompt }: { server: ServerView; prompt: Prompt }) {
  const name = prompt.name ?? "";
  const [values, setValues] = useDraft<Record<string, string>>(
    `prompt.${server.server_id}/${name}`,
    {},
  );
  const [error, setError] = useState<ErrorView | null>(null);
  const { current, show } = useCallsOf(server.server_id, "prompt", name);
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
  const missing = (prompt.arguments ?? []).filter((one) => one.required && !given[one.name ?? ""]);
  const get = (): void => {
    setError(null);
    startCall("GetPrompt", { server_id: server.server_id, name, arguments: given }).then(
      (call) => show(call.call_id),
      (thrown: unknown) => setError(viewOf(thrown)),
    );
  };
  useHotkeys([["mod+Enter", get]], []);
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
            <h2 className="title">{prompt.title ?? name}</h2>
            {prompt.description && <p style={{ margin: 0 }}>{prompt.description}</p>}
            {(prompt.arguments ?? []).map((one) => (
              <SuggestedField
                key={one.name}
                server={server}
                reference={{ type: "ref/prompt", name }}
                name={one.name ?? ""}
                label={one.title}
                description={one.description}
                isRequired={one.required}
                values={values}
                onChange={(value) => setValues({ ...values, [one.name ?? ""]: value })}
              />
            ))}
            {error && <ErrorNote error={error} />}
            <div className="row">
              <Button
                leftSection={<Icon name="play" size={13} />}
                onClick={get}
                disabled={server.state !== "CONNECTED"}
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
  const held = useList(serverId, "prompts");
  const items = useItems<Prompt>(held);
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.toLowerCase());
  const shown = useMemo(
    () =>
      items.filter(({ value }) =>
        `${value.name} ${value.title ?? ""} ${value.description ?? ""}`
          .toLowerCase()
          .includes(wanted),
      ),
    [items, wanted],
  );
  if (!server || (server.state !== "CONNECTED" && !held.list))
    return <NotConnected server={server} icon="prompts" />;
  if (server.state === "CONNECTED" && !offers(server.capabilities, "prompts")) {
    return (
      <Empty icon="prompts" title="This server offers no prompts">
        It did not declare the prompts capability.
      </Empty>
    );
  }
  const prompt = items.find((one) => one.value.name === item)?.value;
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
              kind="prompts"
              held={held}
              noun="prompts"
              text={text}
              onText={setText}
              shown={shown.length}
            />
            {held.error && <ErrorNote error={held.error} />}
            <VirtualList
              label="Prompts"
              items={shown}
              keyOf={keyOf}
              chosen={item ?? null}
              onChoose={(one) => void navigate(pathTo(serverId, "prompts", keyOf(one)))}
              rowHeight={42}
              draw={({ value }) => (
                <>
                  <span className="cut" style={{ fontWeight: 500 }}>
                    {value.title ?? value.name}
                  </span>
                  <span className="cut dim">{value.description ?? ""}</span>
                </>
              )}
            />
          </div>
        }
        second={
          prompt ? (
            <PromptPanel key={`${serverId} ${item}`} server={server} prompt={prompt} />
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
