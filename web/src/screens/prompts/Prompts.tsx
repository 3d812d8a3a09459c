// The prompts of a server: the list, and the chosen prompt with its messages.
import { useDeferredValue, useMemo } from "react";
import { useNavigate } from "react-router";
import { Empty } from "../../parts/Empty";
import { ListHead } from "../../parts/ListHead";
import { ListStatus } from "../../parts/ListStatus";
import { LostNote } from "../../parts/LostNote";
import { NotConnected } from "../../parts/NotConnected";
import { Split } from "../../parts/Split";
import { VirtualList } from "../../parts/VirtualList";
import { fitting, type Item, type Prompt, titleOf } from "../../state/items";
import { isComing, itemsIn, offers, useList } from "../../state/lists";
import { useDraft } from "../../state/remembered";
import { pathTo, usePlace } from "../../state/selection";
import { useInspector } from "../../state/store";
import { LookingFor } from "../tools/LookingFor";
import { Problem } from "../tools/ToolRow";
import { useHasCalls } from "../tools/useToolCalls";
import { PromptPanel } from "./PromptPanel";

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

function PromptList({ serverId, chosen }: { serverId: string; chosen: string | null }) {
  const navigate = useNavigate();
  const list = useList(serverId, "prompts");
  const items = itemsIn<Prompt>(list);
  const [text, setText] = useDraft(`search.prompts.${serverId}`, "");
  const wanted = useDeferredValue(text);
  const shown = useMemo(() => fitting(items, wanted), [items, wanted]);
  return (
    <div className="pane">
      <ListHead
        serverId={serverId}
        kinds={["prompts"]}
        noun="prompts"
        text={text}
        onText={setText}
      />
      <ListStatus serverId={serverId} kind="prompts" list={list} shown={shown.length} hasSwitch />
      {list.fetched > 0 && !list.isLoading && items.length === 0 && (
        <Empty icon="prompts" title="No prompts">
          The server answered with an empty list.
        </Empty>
      )}
      <VirtualList
        label="Prompts"
        items={shown}
        keyOf={keyOf}
        chosen={chosen}
        onChoose={(one) => void navigate(pathTo(serverId, "prompts", keyOf(one)))}
        rowHeight={42}
        draw={draw}
      />
    </div>
  );
}

export function Prompts() {
  const { server_id, item } = usePlace();
  const serverId = server_id ?? "";
  const server = useInspector((state) => state.servers.get(serverId));
  const list = useList(serverId, "prompts");
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
  const found = itemsIn<Prompt>(list).find((one) => one.key === item);
  const prompt: Prompt | null =
    found?.value ?? (item && !isComing(server, list) ? { name: item, arguments: [] } : null);
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
        first={<PromptList serverId={serverId} chosen={item} />}
        second={
          prompt ? (
            <PromptPanel
              key={`${serverId} ${item}`}
              server={server}
              prompt={prompt}
              problem={found?.problem ?? null}
            />
          ) : item ? (
            <LookingFor name={item} serverId={serverId} screen="prompts" />
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
