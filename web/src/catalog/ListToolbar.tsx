// Toolbar above a server's lists: search and refresh.
import { ActionIcon, Tooltip } from "@mantine/core";
import type { ListKind } from "../api/types";
import { Icon } from "../components/Icon";
import { SearchField } from "../components/SearchField";
import { loadList } from "../state/lists";
import { useInspector } from "../state/store";
import { formatTime } from "../values/format";

interface Props {
  serverId: string;
  kinds: ListKind[];
  noun: string;
  text: string;
  onText(text: string): void;
  /** Opens the first match. */
  onEnter(): void;
  /** Moves the focus into the list. */
  onDown(): void;
}

export function ListToolbar({ serverId, kinds, noun, text, onText, onEnter, onDown }: Props) {
  const server = useInspector((state) => state.servers.get(serverId));
  const summaries = server?.lists.filter((list) => kinds.includes(list.kind)) ?? [];
  const fetched = Math.max(0, ...summaries.map((list) => list.fetched));
  const isConnected = server?.state === "CONNECTED";
  const when = fetched ? `Fetched at ${formatTime(fetched, false)}. ` : "";
  return (
    <div className="toolbar">
      <SearchField
        label={`Search ${noun}`}
        value={text}
        onChange={onText}
        className="grow"
        onEnter={onEnter}
        onDown={onDown}
      />
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
