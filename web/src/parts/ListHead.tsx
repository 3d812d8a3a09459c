// Above a server's lists: search, whether they changed, fetch again.
import { ActionIcon, Badge, Tooltip } from "@mantine/core";
import type { ListKind } from "../api/types";
import { loadList } from "../state/lists";
import { useInspector } from "../state/store";
import { clock } from "./format";
import { Icon } from "./icons";
import { SearchField } from "./SearchField";

interface Props {
  serverId: string;
  kinds: ListKind[];
  noun: string;
  text: string;
  onText(text: string): void;
}

export function ListHead({ serverId, kinds, noun, text, onText }: Props) {
  const server = useInspector((state) => state.servers.get(serverId));
  const summaries = server?.lists.filter((list) => kinds.includes(list.kind)) ?? [];
  const changed = summaries.find((list) => list.is_changed);
  const fetched = Math.max(0, ...summaries.map((list) => list.fetched));
  const isConnected = server?.state === "CONNECTED";
  const when = fetched ? `Fetched at ${clock(fetched, false)}. ` : "";
  return (
    <div className="toolbar">
      <SearchField label={`Search ${noun}`} value={text} onChange={onText} className="grow" />
      {changed && (
        <Tooltip
          label={`The server said that the list changed; fetched again at ${clock(changed.fetched, false)}`}
        >
          <Badge color="yellow">changed</Badge>
        </Tooltip>
      )}
      <Tooltip label={when + (isConnected ? "Fetch again" : "The server is not connected")}>
        <ActionIcon
          aria-label={`Fetch the ${noun} again`}
          aria-disabled={!isConnected}
          data-disabled={!isConnected || undefined}
          onClick={() => {
            if (isConnected) for (const kind of kinds) void loadList(serverId, kind, true);
          }}
        >
          <Icon name="refresh" size={14} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
