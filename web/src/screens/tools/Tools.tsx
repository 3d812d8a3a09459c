// The tools of a server: the list, the chosen tool's form, and its calls.
import { useDeferredValue, useMemo, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { Empty } from "../../parts/Empty";
import { ErrorNote } from "../../parts/ErrorNote";
import { ListHead } from "../../parts/ListHead";
import { LostNote } from "../../parts/LostNote";
import { NotConnected } from "../../parts/NotConnected";
import { Split } from "../../parts/Split";
import { VirtualList } from "../../parts/VirtualList";
import { type Item, offers, useItems, useList } from "../../state/lists";
import { pathTo } from "../../state/selection";
import { useInspector } from "../../state/store";
import { ToolPanel } from "./ToolPanel";
import { ToolRow } from "./ToolRow";
import { type Tool, titleOf } from "./tool";

const keyOf = (item: Item<Tool>): string => item.value.name ?? "";
const searched = (tool: Tool): string =>
  `${tool.name ?? ""} ${titleOf(tool)} ${tool.description ?? ""}`.toLowerCase();

function ToolList({ serverId, chosen }: { serverId: string; chosen: string | null }) {
  const navigate = useNavigate();
  const held = useList(serverId, "tools");
  const items = useItems<Tool>(held);
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.toLowerCase());
  const texts = useMemo(() => items.map(({ value }) => searched(value)), [items]);
  const shown = useMemo(() => {
    const words = wanted.split(/\s+/).filter(Boolean);
    if (!words.length) return items;
    return items.filter((_, index) => words.every((word) => texts[index]?.includes(word)));
  }, [items, texts, wanted]);
  const choose = useMemo(
    () => (item: Item<Tool>) => void navigate(pathTo(serverId, "tools", keyOf(item))),
    [navigate, serverId],
  );
  return (
    <div className="pane">
      <ListHead
        serverId={serverId}
        kind="tools"
        held={held}
        noun="tools"
        text={text}
        onText={setText}
        shown={shown.length}
      />
      {held.error && (
        <div style={{ padding: 8 }}>
          <ErrorNote error={held.error} title="The list could not be fetched" />
        </div>
      )}
      {held.list && items.length === 0 && (
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

const drawTool = (item: Item<Tool>) => <ToolRow item={item} />;

export function Tools() {
  const { server: serverId = "", item } = useParams();
  const server = useInspector((state) => state.servers.get(serverId));
  const held = useList(serverId, "tools");
  const items = useItems<Tool>(held);
  const hasRun = useInspector((state) =>
    [...state.calls.values()].some((call) => call.server_id === serverId && call.kind === "tool"),
  );
  const isConnected = server?.state === "CONNECTED";
  // What was there stays when a server dies: its list, its calls, what was typed.
  if (!server || (!isConnected && !held.list && !hasRun))
    return <NotConnected server={server} icon="tools" />;
  if (isConnected && !offers(server.capabilities, "tools")) {
    return (
      <Empty icon="tools" title="This server offers no tools">
        It did not declare the tools capability. Its capabilities are under Servers, Info.
      </Empty>
    );
  }
  const found = items.find((one) => one.value.name === item);
  const tool: Tool | null =
    found?.value ?? (item && (held.list || !isConnected) ? { name: item } : null);
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
        first={<ToolList serverId={serverId} chosen={item ?? null} />}
        second={
          tool ? (
            <ToolPanel
              key={`${serverId} ${item}`}
              server={server}
              tool={tool}
              problem={found?.problem ?? null}
            />
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
