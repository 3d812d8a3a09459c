// Form to read a resource: fields, error and button.
import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Link, useNavigate } from "react-router";
import type { ErrorView, ServerView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { UntrustedText } from "../../components/UntrustedText";
import { useRunShortcut } from "../../components/useRunShortcut";
import { startCall } from "../../state/commands";
import { pathTo } from "../../state/navigation";
import { errorViewOf } from "../../state/toasts";

/** Reads a URI, then navigates to the result, beside the template if there is one. */
function useReadUri(
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

interface Props {
  server: ServerView;
  title: string;
  uri: string;
  /** The key of the template that the URI is expanded from. */
  template?: string;
  children: ReactNode;
}

export function ReadForm({ server, title, uri, template, children }: Props) {
  const { read, error } = useReadUri(server, template ?? null);
  const isConnected = server.state === "CONNECTED";
  useRunShortcut(() => isConnected && read(uri));
  return (
    <div className="scroll pad" style={{ height: "100%" }}>
      <form
        className="stack"
        data-fields="there"
        style={{ maxWidth: 560 }}
        onSubmit={(event) => {
          event.preventDefault();
          read(uri);
        }}
      >
        <Link to={pathTo(server.server_id, "resources")} className="narrow-only">
          All resources
        </Link>
        <h2 className="title">
          <UntrustedText>{title}</UntrustedText>
        </h2>
        {children}
        {error && <ErrorNote error={error} title="The resource could not be read" />}
        <div>
          <Button type="submit" data-run disabled={!isConnected}>
            Read it
          </Button>
        </div>
      </form>
    </div>
  );
}
