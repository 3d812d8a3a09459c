// Removes a server after a question.
import { modals } from "@mantine/modals";
import type { ServerView } from "../api/types";
import { command } from "../state/commands";
import { serverName } from "../state/navigation";
import { withErrorToast } from "../state/toasts";

function removal(server: ServerView): string {
  return server.is_editable
    ? `It is removed from ${server.source.path}; a backup of the file is kept.`
    : "It is removed from this page until mcplens is started with it again.";
}

export function askToRemove(server: ServerView): void {
  modals.openConfirmModal({
    title: `Remove ${serverName(server)}?`,
    children: removal(server),
    labels: { confirm: "Remove", cancel: "Keep" },
    confirmProps: { color: "red.9" },
    onConfirm: () =>
      void withErrorToast(
        "The server could not be removed",
        command("ServerRemove", { server_id: server.server_id }),
      ),
  });
}
