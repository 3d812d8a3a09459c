// What is filled in to read a resource: fields, what went wrong, and the button.
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import type { ServerView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { UntrustedText } from "../../components/UntrustedText";
import { useRunShortcut } from "../../components/useRunShortcut";
import { pathTo } from "../../state/navigation";
import { useReading } from "./useReading";

interface Props {
  server: ServerView;
  title: string;
  uri: string;
  /** The key of the template that the address is made from. */
  template?: string;
  children: ReactNode;
}

export function ReadForm({ server, title, uri, template, children }: Props) {
  const { read, error } = useReading(server, template ?? null);
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
        {error && <ErrorNote error={error} title="It was not read" />}
        <div>
          <Button type="submit" data-run disabled={!isConnected}>
            Read it
          </Button>
        </div>
      </form>
    </div>
  );
}
