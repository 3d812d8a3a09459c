import { useState } from "react";
import { useNavigate } from "react-router";
import type { ErrorView, ServerView } from "../../api/types";
import { startCall } from "../../state/commands";
import { pathTo } from "../../state/navigation";
import { errorViewOf } from "../../state/toasts";

/** Read any address, then go to where what it gave is shown: beside the template that made it. */
export function useReading(
  server: ServerView,
  template: string | null,
): {
  read(uri: string): void;
  error: ErrorView | null;
} {
  const navigate = useNavigate();
  const [error, setError] = useState<ErrorView | null>(null);
  const { server_id } = server;
  const read = async (uri: string): Promise<void> => {
    setError(null);
    try {
      const { call_id } = await startCall("ReadResource", { server_id, uri });
      const beside = template === null ? "" : `&template=${encodeURIComponent(template)}`;
      const shown = `?call=${encodeURIComponent(call_id)}${beside}`;
      void navigate(pathTo(server_id, "resources", uri) + shown);
    } catch (thrown) {
      setError(errorViewOf(thrown));
    }
  };
  return { read: (uri) => void read(uri), error };
}
