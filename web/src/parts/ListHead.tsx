// Above a server's list: search, how many, when it was fetched, fetch again.
import { ActionIcon, Badge, Tooltip } from "@mantine/core";
import type { ListKind } from "../api/types";
import { type Held, loadList } from "../state/lists";
import { useInspector } from "../state/store";
import { clock } from "./format";
import { Icon } from "./icons";
import { SearchField } from "./SearchField";

interface Props {
  serverId: string;
  kind: ListKind;
  held: Held;
  noun: string;
  text: string;
  onText(text: string): void;
  shown: number;
}

export function ListHead({ serverId, kind, held, noun, text, onText, shown }: Props) {
  const summary = useInspector((state) =>
    state.servers.get(serverId)?.lists.find((list) => list.kind === kind),
  );
  const total = (held.list?.items.length ?? 0) + (held.list?.dropped.length ?? 0);
  return (
    <div className="toolbar">
      <SearchField label={`Search ${noun}`} value={text} onChange={onText} className="grow" />
      <span className="dim" role="status">
        {shown === total ? total : `${shown} of ${total}`}
      </span>
      {summary?.is_changed && (
        <Tooltip
          label={`The server said that the list changed; fetched at ${clock(summary.fetched, false)}`}
        >
          <Badge color="yellow">changed</Badge>
        </Tooltip>
      )}
      <Tooltip
        label={
          held.list ? `Fetched at ${clock(held.list.fetched, false)}. Fetch again` : "Fetch again"
        }
      >
        <ActionIcon
          aria-label={`Fetch the ${noun} again`}
          loading={held.isLoading}
          onClick={() => void loadList(serverId, kind, true)}
        >
          <Icon name="refresh" size={14} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
