// The tools of a server: the list, the chosen tool's form, and its calls.
import type { ServerView } from "../../api/types";
import { CatalogScreen } from "../../catalog/CatalogScreen";
import { ItemLoading } from "../../catalog/ItemLoading";
import { findMissing } from "../../catalog/NotListed";
import { EmptyState } from "../../components/EmptyState";
import { isStillLoading, itemsIn, useList } from "../../state/lists";
import { usePageLocation } from "../../state/navigation";
import { ToolList } from "./ToolList";
import { ToolPanel } from "./ToolPanel";
import type { Tool } from "./toolHints";

function SelectedTool({ server, item }: { server: ServerView; item: string | null }) {
  const { server_id } = server;
  const list = useList(server_id, "tools");
  if (item === null)
    return (
      <EmptyState icon="tools" title="Choose a tool">
        Its form, its calls and their results appear here. Ctrl K finds any tool by a few letters.
      </EmptyState>
    );
  const found = itemsIn<Tool>(list).find((one) => one.key === item);
  if (!found && isStillLoading(server, list))
    return <ItemLoading name={item} serverId={server_id} screen="tools" />;
  return (
    <ToolPanel
      key={`${server_id} ${item}`}
      server={server}
      tool={found?.value ?? { name: item }}
      itemKey={item}
      listed={found?.listed}
      missing={findMissing(list, `${server_id} tool ${item}`, found !== undefined)}
      problem={found?.problem ?? null}
    />
  );
}

export function Tools() {
  const { item } = usePageLocation();
  return (
    <CatalogScreen
      kind="tools"
      calls="tool"
      isAnyChosen={item !== null}
      list={({ server_id }) => <ToolList serverId={server_id} chosen={item} />}
      chosen={(server) => <SelectedTool server={server} item={item} />}
    />
  );
}
