// The Servers screen: all servers as cards.
import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { useSearchParams } from "react-router";
import type { ServerView } from "../../api/types";
import { Icon } from "../../components/Icon";
import { lazyModule, useLoadProblem, useModule } from "../../components/lazyModule";
import { ModuleLoading } from "../../components/ModuleLoading";
import { NoSearchMatches } from "../../components/NoMatches";
import { SearchField } from "../../components/SearchField";
import { useInspector } from "../../state/store";
import { pluralize } from "../../values/format";
import { ExportServers } from "./ExportServers";
import { FirstStart } from "./FirstStart";
import { ServerCard } from "./ServerCard";
import type { EditedServer } from "./ServerForm";
import css from "./Servers.module.css";

const dialogs = lazyModule(() => import("./ServerDialog"));

function Dialog({ edited, onClose }: { edited: EditedServer | null; onClose(): void }) {
  const module = useModule(dialogs);
  const problem = useLoadProblem(dialogs);
  if (module) return <module.ServerDialog edited={edited} onClose={onClose} />;
  return (
    <Modal
      opened={problem !== null}
      onClose={onClose}
      title={edited ? "Edit a server" : "Add a server"}
    >
      <ModuleLoading loader={dialogs} what="the dialog" />
    </Modal>
  );
}

/** Whether a server was never used: not connected, and nothing is known of an earlier attempt. */
const isUntouched = (server: ServerView): boolean =>
  server.state === "DISCONNECTED" &&
  server.error === null &&
  server.exit === null &&
  server.protocol_version === null;

/** Whether there is nothing but the bundled server, and nobody has used it. */
const useIsFirstStart = (): boolean =>
  useInspector(
    (state) =>
      state.run_id !== null &&
      state.first_server_id === null &&
      [...state.servers.values()].every(
        (server) => server.source.kind === "built-in" && isUntouched(server),
      ),
  );

/** The server that the address names for editing or copying. */
function editedIn(query: URLSearchParams): EditedServer | null {
  const copied = query.get("copy");
  const server_id = copied ?? query.get("edit");
  if (server_id === null) return null;
  return { server_id, isCopy: copied !== null, isTrusting: query.has("trust") };
}

export function Servers() {
  const servers = useInspector((state) => state.servers);
  const isFirst = useIsFirstStart();
  const isReady = useInspector((state) => state.run_id !== null);
  const [query, setQuery] = useSearchParams();
  const [text, setText] = useState("");
  const edited = editedIn(query);
  const isShown = edited ? servers.has(edited.server_id) : query.has("add");
  const add = (): void => setQuery({ add: "" });
  const needle = text.trim().toLowerCase();
  const shown = [...servers.values()].filter((server) =>
    `${server.server_id} ${server.title ?? ""} ${server.shown}`.toLowerCase().includes(needle),
  );
  const connected = [...servers.values()].filter((server) => server.state === "CONNECTED").length;
  const dialog = isShown && (
    <Dialog edited={edited} onClose={() => setQuery({}, { replace: true })} />
  );
  if (isFirst)
    return (
      <div className="pane">
        <div className="scroll">
          <FirstStart />
        </div>
        {dialog}
      </div>
    );
  return (
    <div className="pane">
      <div className="toolbar">
        <h1 className="title">Servers</h1>
        {isReady && (
          <span className="dim">
            {pluralize(servers.size, "server")}, {connected} connected
          </span>
        )}
        {servers.size > 6 && <SearchField label="Filter servers" value={text} onChange={setText} />}
        <div className="actions">
          <ExportServers />
          <Button leftSection={<Icon name="add" size={14} />} onClick={add}>
            Add a server
          </Button>
        </div>
      </div>
      <div className="scroll">
        {servers.size > 0 && shown.length === 0 ? (
          <NoSearchMatches text={text} onClear={() => setText("")} />
        ) : (
          <div className={css.grid}>
            {shown.map((server) => (
              <ServerCard
                key={server.server_id}
                server={server}
                onEdit={(isCopy) => setQuery({ [isCopy ? "copy" : "edit"]: server.server_id })}
              />
            ))}
          </div>
        )}
      </div>
      {dialog}
    </div>
  );
}
