// The Servers screen: all servers as cards.
import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { EmptyState } from "../../components/EmptyState";
import { Icon } from "../../components/Icon";
import { lazyModule, useLoadProblem, useModule } from "../../components/lazyModule";
import { ModuleLoading } from "../../components/ModuleLoading";
import { NoSearchMatches } from "../../components/NoMatches";
import { SearchField } from "../../components/SearchField";
import { useInspector } from "../../state/store";
import { pluralize } from "../../values/format";
import { ExportServers } from "./ExportServers";
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

/** First steps, while there is only the bundled server. */
function FirstSteps({ onAdd }: { onAdd(): void }) {
  return (
    <section className={css.first} aria-label="Your own servers">
      <h2 className="section-title">Your own servers</h2>
      <span>
        Paste a command line, a URL or a piece of an <code>mcp.json</code>, or import the servers of
        Claude, Cursor, VS Code and others on this computer. To look around first, switch on the
        bundled example and go to Tools.
      </span>
      <Button variant="default" leftSection={<Icon name="add" size={14} />} onClick={onAdd}>
        Add your server
      </Button>
    </section>
  );
}

/** The server that the address names for editing or copying. */
function editedIn(query: URLSearchParams): EditedServer | null {
  const copied = query.get("copy");
  const server_id = copied ?? query.get("edit");
  if (server_id === null) return null;
  return { server_id, isCopy: copied !== null, isTrusting: query.has("trust") };
}

export function Servers() {
  const servers = useInspector((state) => state.servers);
  const link = useInspector((state) => state.link);
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
  const isNew = [...servers.values()].every((server) => server.source.kind === "built-in");
  const connected = [...servers.values()].filter((server) => server.state === "CONNECTED").length;
  return (
    <div className="pane">
      <div className="toolbar">
        <h1 className="title">Servers</h1>
        {isReady && (
          <span className="dim">
            {pluralize(servers.size, "server")}, {connected} connected
          </span>
        )}
        <span className="grow" />
        {servers.size > 6 && <SearchField label="Filter servers" value={text} onChange={setText} />}
        <ExportServers />
        <Button leftSection={<Icon name="add" size={14} />} onClick={add}>
          Add a server
        </Button>
      </div>
      <div className="scroll">
        {servers.size === 0 && link.state === "open" ? (
          <EmptyState
            icon="servers"
            title="No servers yet"
            action={<Button onClick={add}>Add a server</Button>}
          >
            Paste a command line or a URL, import the configuration of another tool, or start
            mcplens with a server: <code>mcplens demo</code>.
          </EmptyState>
        ) : servers.size > 0 && shown.length === 0 ? (
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
            {isNew && <FirstSteps onAdd={add} />}
          </div>
        )}
      </div>
      {isShown && <Dialog edited={edited} onClose={() => setQuery({}, { replace: true })} />}
    </div>
  );
}
