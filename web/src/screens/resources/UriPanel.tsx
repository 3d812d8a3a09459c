// Form for any URI, typed or from a recorded request.
import { TextInput } from "@mantine/core";
import { useState } from "react";
import type { ServerView } from "../../api/types";
import { ReadForm } from "./ReadForm";

export function UriPanel({ server, uri }: { server: ServerView; uri: string }) {
  const [text, setText] = useState(uri);
  return (
    <ReadForm server={server} title="Read a URI" uri={text}>
      <TextInput
        label="URI"
        description="Sent as it is, whether the server lists it or not"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        styles={{ input: { fontFamily: "var(--mono)" } }}
      />
    </ReadForm>
  );
}
