// The tools of a server: the list, the chosen tool's form, and its calls.
import { useDeferredValue, useMemo } from "react";
import { useNavigate } from "react-router";
import { Empty } from "../../parts/Empty";
import { ListHead } from "../../parts/ListHead";
import { ListStatus } from "../../parts/ListStatus";
import { LostNote } from "../../parts/LostNote";
import { NotConnected } from "../../parts/NotConnected";
import { Split } from "../../parts/Split";
import { VirtualList } from "../../parts/VirtualList";
import { fitting, type Item } from "../../state/items";
import { isComing, itemsIn, offers, useList } from "../../state/lists";
import { useDraft } from "../../state/remembered";
import { pathTo, usePlace } from "../../state/selection";
import { useInspector } from "../../state/store";
import { LookingFor } from "./LookingFor";
import { ToolPanel } from "./ToolPanel";
import { ToolRow } from "./ToolRow";
import type { Tool } from "./tool";
import { useHasCalls } from "./useToolCalls";

const keyOf = (item: Item<Tool>): string => item.key;
const drawTool = (item: Item<Tool>) => <ToolRow item={item} />;

function ToolList({ serverId, chosen }: { serverId: string; chosen: string | null }) {
  const navigate = useNavigate();
  const list = useList(serverId, "tools");
  const items = itemsIn<Tool>(list);
  const [text, setText] = useDraft(`search.tools.${serverId}`, "");
  const wanted = useDeferredValue(text);
  const shown = useMemo(() => fitting(items, wanted), [items, wanted]);
  const choose = useMemo(
    () => (item: Item<Tool>) => void navigate(pathTo(serverId, "tools", keyOf(item))),
    [navigate, serverId],
  );
  return (
    <div className="pane">
      <ListHead serverId={serverId} kinds={["tools"]} noun="tools" text={text} onText={setText} />
      <ListStatus serverId={serverId} kind="tools" list={list} shown={shown.length} hasSwitch />
      {list.fetched > 0 && !list.isLoading && items.length === 0 && (
        <Empty icon="tools" title="No tools">
          The server answered with an empty list.
        </Empty>
      )}
      <VirtualList
        label="Tools"
        items={shown}
        keyOf={keyOf}
        chosen={chosen}
        onChoose={choose}
        rowHeight={40}
        draw={drawTool}
      />
    </div>
  );
}

export function Tools() {
  const { server_id, item } = usePlace();
  const serverId = server_id ?? "";
  const server = useInspector((state) => state.servers.get(serverId));
  const list = useList(serverId, "tools");
  const hasRun = useHasCalls(serverId, "tool");
  const isConnected = server?.state === "CONNECTED";
  // What was there stays when a server dies: its list, its calls, what was typed.
  if (!server || (!isConnected && !list.isThere && !hasRun))
    return <NotConnected server={server} icon="tools" />;
  if (isConnected && !offers(server.capabilities, "tools")) {
    return (
      <Empty icon="tools" title="This server offers no tools">
        It did not declare the tools capability. Its capabilities are under Servers, Info.
      </Empty>
    );
  }
  const found = itemsIn<Tool>(list).find((one) => one.key === item);
  const tool: Tool | null =
    found?.value ?? (item && !isComing(server, list) ? { name: item } : null);
  return (
    <div className="pane">
      <h1 className="sr">Tools of {serverId}</h1>
      <LostNote server={server} />
      <Split
        name="tools.list"
        label="Width of the list"
        initial={320}
        least={200}
        most={640}
        narrow={item ? "second" : "first"}
        first={<ToolList serverId={serverId} chosen={item} />}
        second={
          tool ? (
            <ToolPanel
              key={`${serverId} ${item}`}
              server={server}
              tool={tool}
              listed={found?.listed}
              problem={found?.problem ?? null}
            />
          ) : item ? (
            <LookingFor name={item} serverId={serverId} screen="tools" />
          ) : (
            <Empty icon="tools" title="Choose a tool">
              Its form, its calls and their results appear here. Ctrl K finds any tool by a few
              letters.
            </Empty>
          )
        }
      />
    </div>
  );
}
