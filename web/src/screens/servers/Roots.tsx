// Roots tab: the folders that a server may know about.
import { useState } from "react";
import type { ServerView } from "../../api/types";
import { Callout } from "../../components/Callout";
import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";
import { AddRoot } from "./AddRoot";
import { mayAskForRoots, rootsText } from "./capabilities";
import { RootTable } from "./RootTable";

export function Roots({ server }: { server: ServerView }) {
  const { server_id, roots } = server;
  const [save, setSave] = useState(false);
  const remove = (uri: string): void =>
    void withErrorToast(
      save ? "The root could not be removed from the file" : "The root was not removed",
      command("RemoveRoot", { server_id, uri, save }),
    );
  return (
    <div className="stack">
      <p style={{ margin: 0 }}>Filesystem roots exposed to this server. {rootsText(server)}</p>
      <RootTable roots={roots} isSeen={mayAskForRoots(server)} onRemove={remove} />
      <AddRoot server={server} save={save} onSave={setSave} />
      <Callout>
        Roots tell the server which folders it may work in. Only add folders that you trust it with.
      </Callout>
    </div>
  );
}
