// The exact, whole command is shown before a server that came from elsewhere is first started.
import { modals } from "@mantine/modals";
import type { ServerView } from "../../api/types";
import { Callout } from "../../parts/Callout";
import { telling } from "../../state/actions";
import { command } from "../../state/connection";

function Command({ server }: { server: ServerView }) {
  return (
    <div className="stack">
      <p style={{ margin: 0 }}>
        This server comes from {server.source.path || server.source.kind}. It has not been started
        before.{" "}
        {server.command
          ? "This program would run on your computer, with your rights:"
          : "This address would be contacted:"}
      </p>
      {server.command ? (
        <ol className="mono" style={{ margin: 0, paddingLeft: 28 }} start={0}>
          {server.command.map((part, index) => (
            <li key={index} style={{ overflowWrap: "anywhere" }}>
              {part}
            </li>
          ))}
        </ol>
      ) : (
        <pre className="block">{server.url}</pre>
      )}
      {server.cwd && <span className="dim">in the folder {server.cwd}</span>}
      {server.env_names.length > 0 && (
        <span className="dim">with {server.env_names.join(", ")} set</span>
      )}
      {server.header_names.length > 0 && (
        <span className="dim">with the headers {server.header_names.join(", ")}</span>
      )}
      <Callout>Start it only if you know what it does and trust where it came from.</Callout>
    </div>
  );
}

export function askToConfirm(server: ServerView): void {
  modals.openConfirmModal({
    title: `Start ${server.title ?? server.server_id}?`,
    size: "lg",
    children: <Command server={server} />,
    labels: { confirm: "Start it", cancel: "Not now" },
    onConfirm: () => {
      const { server_id } = server;
      const work = command("Confirm", { server_id }).then(() => command("Connect", { server_id }));
      void telling("It could not be started", work);
    },
  });
}
