// The screen of apps: the tools that have one, the arguments of the chosen one, and its app. Tools
// loads its panel from here too: a second entry would cut what both share into more pieces.
import { Button } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import type { ErrorView, ServerView } from "../api/types";
import { useItemCalls } from "../catalog/useItemCalls";
import { useSelectItem } from "../catalog/useSelectItem";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { LIST_WIDTH, SplitPane } from "../components/SplitPane";
import { UntrustedText } from "../components/UntrustedText";
import { useRunShortcut } from "../components/useRunShortcut";
import { VirtualList } from "../components/VirtualList";
import { type Arguments, ArgumentsEditor, NO_ARGUMENTS } from "../forms/ArgumentsEditor";
import { useFindings } from "../forms/useFindings";
import { DisconnectedBanner } from "../servers/DisconnectedBanner";
import { NotConnected } from "../servers/NotConnected";
import { useDraft } from "../state/browserStorage";
import { startCall } from "../state/commands";
import { appUriOf, type Item, itemTitle, type Tool } from "../state/items";
import { isStillLoading, itemsIn, useList } from "../state/lists";
import { pathTo, usePageLocation } from "../state/navigation";
import { useInspector } from "../state/store";
import { errorViewOf } from "../state/toasts";
import { fieldsOf } from "../values/jsonObject";
import { AppPanel } from "./AppPanel";
import css from "./Apps.module.css";

const row = (item: Item<Tool>) => (
  <>
    <div className={`cut ${css.name}`}>
      <UntrustedText>{itemTitle(item.value, item.key)}</UntrustedText>
    </div>
    <div className="cut mono dim">
      <UntrustedText>{appUriOf(item.listed) ?? ""}</UntrustedText>
    </div>
  </>
);

function AppList({ server, items, chosen }: ListProps) {
  const choose = useSelectItem(chosen, (item) => pathTo(server.server_id, "apps", item.key));
  return (
    <div className="pane">
      <VirtualList
        label="Apps"
        items={items}
        keyOf={(item) => item.key}
        chosen={chosen}
        onChoose={choose}
        render={row}
      />
    </div>
  );
}

interface ListProps {
  server: ServerView;
  items: Item<Tool>[];
  chosen: string | null;
}

function ChosenApp({ server, item }: { server: ServerView; item: Item<Tool> }) {
  const { server_id } = server;
  const { value: tool, key } = item;
  const name = tool.name ?? "";
  const { current, show } = useItemCalls(server_id, "tool", key);
  const [draft, setDraft] = useDraft<Arguments>(`tool.${server_id}/${key}`, NO_ARGUMENTS);
  const { parsed, findings, unchecked, asTyped } = useFindings(tool.inputSchema, draft);
  const [error, setError] = useState<ErrorView | null>(null);
  const [isBare, setBare] = useState(false);
  const run = async (): Promise<void> => {
    setError(null);
    try {
      const call = await startCall(
        "CallTool",
        { server_id, name, listed_as: key },
        { arguments: draft.text === null ? "{}" : asTyped },
      );
      setBare(false);
      show(call.call_id);
    } catch (thrown) {
      setError(errorViewOf(thrown));
    }
  };
  const isConnected = server.state === "CONNECTED";
  useRunShortcut(() => isConnected && void run());
  const call = isBare ? null : current;
  return (
    <div className="scroll pad">
      <div className="stack">
        <div className="row wrap">
          <Link to={pathTo(server_id, "apps")} className="narrow-only">
            All apps
          </Link>
          <h2 className="title grow">
            <UntrustedText>{itemTitle(tool)}</UntrustedText>
          </h2>
          <Link to={pathTo(server_id, "tools", key)}>Tool</Link>
        </div>
        <div className={`stack ${css.form}`} data-form>
          <ArgumentsEditor
            name={`${server_id}-${name}-app`}
            schema={tool.inputSchema ?? {}}
            value={draft}
            findings={findings}
            unchecked={unchecked}
            onChange={setDraft}
          />
          {error && <ErrorNote error={error} title="The call was not sent" />}
          <div className="row">
            <Button disabled={!isConnected} onClick={() => void run()}>
              Run
            </Button>
            <Button
              variant="subtle"
              color="gray"
              disabled={!isConnected}
              onClick={() => setBare(true)}
            >
              Open without a call
            </Button>
          </div>
        </div>
        {(call || isBare) && (
          <AppPanel
            key={call?.call_id ?? "bare"}
            serverId={server_id}
            tool={name}
            call={call}
            draft={fieldsOf(parsed.ok ? parsed.value : {})}
          />
        )}
      </div>
    </div>
  );
}

export function Apps() {
  const { server_id, item: chosen } = usePageLocation();
  const serverId = server_id ?? "";
  const server = useInspector((state) => state.servers.get(serverId));
  const list = useList(serverId, "tools");
  const items = itemsIn<Tool>(list).filter(({ listed }) => appUriOf(listed) !== null);
  if (!server || (server.state !== "CONNECTED" && items.length === 0))
    return <NotConnected server={server} icon="apps" />;
  const found = items.find(({ key }) => key === chosen);
  const isLoading = isStillLoading(server, list);
  return (
    <div className="pane">
      <h1 className="sr">Apps of {serverId}</h1>
      <DisconnectedBanner server={server} />
      {items.length === 0 && !isLoading ? (
        <EmptyState icon="apps" title="This server has no apps">
          None of its tools names a user interface in <span className="mono">_meta.ui</span>.
        </EmptyState>
      ) : (
        <SplitPane
          name="apps.list"
          label="Width of the list"
          {...LIST_WIDTH}
          narrow={found ? "second" : "first"}
          first={<AppList server={server} items={items} chosen={chosen} />}
          second={
            found ? (
              <ChosenApp key={`${serverId} ${found.key}`} server={server} item={found} />
            ) : (
              <EmptyState icon="apps" title="Choose an app">
                Run calls its tool and shows the app with the result.
              </EmptyState>
            )
          }
        />
      )}
    </div>
  );
}

export { AppPanel };
