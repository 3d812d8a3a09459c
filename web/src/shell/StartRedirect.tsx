import { Navigate } from "react-router";
import { pathTo } from "../state/navigation";
import { useInspector } from "../state/store";

/** The first screen: the tools of the server that mcplens was started with, else all servers. */
export function StartRedirect() {
  const runId = useInspector((state) => state.run_id);
  const first = useInspector((state) => state.first_server_id);
  if (runId === null) return null;
  return <Navigate to={first ? pathTo(first, "tools") : "/servers"} replace />;
}
