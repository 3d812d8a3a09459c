// Status of a list: items, pages, the pending request, and whether there are more pages.
import { Button, Switch } from "@mantine/core";
import type { ListKind } from "../api/types";
import { ErrorNote } from "../components/ErrorNote";
import { useNow } from "../components/useNow";
import { command } from "../state/commands";
import { type List, loadList, loadMore, setOnePage, usePaging } from "../state/lists";
import { useInspector } from "../state/store";
import { withErrorToast } from "../state/toasts";
import { pluralize, truncate } from "../values/format";
import { ListChange } from "./ListChange";
import css from "./ListStatus.module.css";

const NAMES: Record<ListKind, { noun: string; method: string }> = {
  tools: { noun: "tool", method: "tools/list" },
  resources: { noun: "resource", method: "resources/list" },
  resource_templates: { noun: "template", method: "resources/templates/list" },
  prompts: { noun: "prompt", method: "prompts/list" },
};

interface Props {
  serverId: string;
  kind: ListKind;
  list: List;
  shown: number;
  /** Shows the switch between loading page by page and loading all. */
  hasSwitch?: boolean;
}

/** Number of items and pages as text. */
export function listSizeLabel(kind: ListKind, list: List, shown: number): string {
  const { items, summary } = list;
  if (!summary?.fetched) return "";
  const total = Math.max(items.length, summary.count);
  const all = pluralize(total, NAMES[kind].noun);
  const part = shown < items.length ? `${shown.toLocaleString("en")} of ${all}` : all;
  const pages = summary.pages > 1 ? ` in ${pluralize(summary.pages, "page")}` : "";
  return `${part}${pages}${summary.next_cursor === null ? "" : ", more available"}`;
}

function PageProgress({ kind, list }: Pick<Props, "kind" | "list">) {
  const now = useNow(true, 250);
  const { asked, awaited, fetched } = list.summary ?? { asked: null, awaited: 1, fetched: 0 };
  const since = asked === null ? "" : `, ${Math.max(0, now - asked).toFixed(1)} s`;
  const soFar = fetched ? `; ${list.count.toLocaleString("en")} so far` : "";
  return <>{`Waiting for page ${awaited} of ${NAMES[kind].method}${since}${soFar}`}</>;
}

function LoadMoreButtons({
  serverId,
  kind,
  cursor,
}: {
  serverId: string;
  kind: ListKind;
  cursor: string;
}) {
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        title={`Cursor: ${truncate(cursor, 200)}`}
        onClick={() => void loadMore(serverId, kind, true)}
      >
        Next page
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => void loadMore(serverId, kind, false)}
      >
        All
      </Button>
    </>
  );
}

function PagingSwitch({ serverId, kind, list }: Pick<Props, "serverId" | "kind" | "list">) {
  const { isOnePage } = usePaging();
  const choose = (next: boolean): void => {
    setOnePage(next);
    if (next) void loadList(serverId, kind, true);
    else if (list.summary?.next_cursor != null) void loadMore(serverId, kind, false);
  };
  return (
    <Switch
      size="xs"
      label="Load page by page"
      title="The server sends its list in pages; mcplens fetches the next when you ask for it"
      checked={isOnePage}
      onChange={(event) => choose(event.currentTarget.checked)}
    />
  );
}

export function ListStatus({ serverId, kind, list, shown, hasSwitch }: Props) {
  const isConnected = useInspector((state) => state.servers.get(serverId)?.state === "CONNECTED");
  const isWaiting = list.summary ? list.summary.asked !== null : list.isLoading;
  const { isOnePage } = usePaging();
  const { next_cursor: cursor = null, pages = 0 } = list.summary ?? {};
  // A list of one page needs no choice; one that was made can always be taken back.
  const isPaged = pages > 1 || cursor !== null || isOnePage;
  const stop = (): void =>
    void withErrorToast(
      "The list could not be cancelled",
      command("StopList", { server_id: serverId, kind }),
    );
  return (
    <>
      <div className={css.status}>
        <span className={css.words}>
          {/* Announced by screen readers: start and end of the wait, but not every tick. */}
          <span role="status">
            {isWaiting ? (
              <span className="sr">Waiting for {NAMES[kind].method}</span>
            ) : (
              listSizeLabel(kind, list, shown)
            )}
          </span>
          {isWaiting && <PageProgress kind={kind} list={list} />}
        </span>
        <div className={css.actions}>
          {isWaiting && (
            <Button size="compact-xs" variant="default" onClick={stop}>
              Cancel
            </Button>
          )}
          {!isWaiting && isConnected && cursor !== null && (
            <LoadMoreButtons serverId={serverId} kind={kind} cursor={cursor} />
          )}
          {hasSwitch && isConnected && isPaged && (
            <PagingSwitch serverId={serverId} kind={kind} list={list} />
          )}
        </div>
        <ListChange serverId={serverId} kind={kind} list={list} />
      </div>
      {list.error && !isWaiting && (
        <div className={css.error}>
          <ErrorNote
            error={list.error}
            title={`${NAMES[kind].method} failed${list.items.length ? "; the earlier pages are kept" : ""}`}
            action={
              isConnected && (
                <Button
                  size="compact-xs"
                  variant="default"
                  onClick={() => void loadList(serverId, kind, true)}
                >
                  Fetch again
                </Button>
              )
            }
          />
        </div>
      )}
    </>
  );
}
