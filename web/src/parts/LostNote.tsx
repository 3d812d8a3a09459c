// Above a work screen whose server is gone: what happened, and one button to connect again.
import { Button } from "@mantine/core";
import type { ServerView } from "../api/types";
import { toggle } from "../screens/servers/ServerCard";
import { cut } from "./format";
import css from "./LostNote.module.css";
import { StateDot, shownState, stateWords } from "./StateDot";

export function LostNote({ server }: { server: ServerView }) {
  if (server.state === "CONNECTED") return null;
  const { exit } = server;
  const ended = exit
    ? exit.signal
      ? `ended by ${exit.signal}`
      : `ended with exit code ${exit.exit_code}`
    : null;
  const why = ended ?? (server.error ? cut(server.error.message, 140) : null);
  return (
    <div className={css.note} role="status">
      <StateDot state={shownState(server)} />
      <span className="grow">
        {server.title ?? server.server_id}: {stateWords(server).toLowerCase()}
        {why ? `, ${why}` : ""}. What you see is as it was.
      </span>
      <Button size="compact-xs" variant="default" onClick={() => toggle(server)}>
        {server.state === "CONNECTING" ? "Cancel" : "Connect again"}
      </Button>
    </div>
  );
}
