// Connects a server that was just added, and shows its tools.
import { useNavigate } from "react-router";
import { command } from "../../state/commands";
import { rememberServer } from "../../state/lastVisited";
import { pathTo } from "../../state/navigation";
import { withErrorToast } from "../../state/toasts";

/** Connect a server and go to its Tools, where its connecting and any failure are shown. */
export function useConnectAndShow(): (server_id: string) => void {
  const navigate = useNavigate();
  return (server_id) => {
    rememberServer(server_id);
    void withErrorToast(`Could not connect to ${server_id}`, command("Connect", { server_id }));
    void navigate(pathTo(server_id, "tools"));
  };
}
