// Any address, typed or brought along from a recorded request; read when asked to, not before.
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import type { ServerView } from "../../api/types";
import { ErrorNote } from "../../parts/ErrorNote";
import { pathTo } from "../../state/selection";
import { useReading } from "./useReading";

export function UriPanel({ server, uri }: { server: ServerView; uri: string }) {
  const [text, setText] = useState(uri);
  const { read, error } = useReading(server);
  return (
    <div className="scroll pad" style={{ height: "100%" }}>
      <form
        className="stack"
        style={{ maxWidth: 560 }}
        onSubmit={(event) => {
          event.preventDefault();
          read(text);
        }}
      >
        <Link to={pathTo(server.server_id, "resources")} className="narrow-only">
          All resources
        </Link>
        <h2 className="title">Read a URI</h2>
        <TextInput
          label="URI"
          description="Sent as it is, whether the server lists it or not"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          styles={{ input: { fontFamily: "var(--mono)" } }}
        />
        {error && <ErrorNote error={error} title="It was not read" />}
        <div>
          <Button type="submit" disabled={server.state !== "CONNECTED"}>
            Read it
          </Button>
        </div>
      </form>
    </div>
  );
}
