// A template: its variables as fields, the address they make, and opening it.
import { Button } from "@mantine/core";
import { Link } from "react-router";
import type { ServerView } from "../../api/types";
import { Callout } from "../../parts/Callout";
import { ErrorNote } from "../../parts/ErrorNote";
import { type Resource, titleOf } from "../../state/items";
import { useDraft } from "../../state/remembered";
import { pathTo } from "../../state/selection";
import { SuggestedField } from "../prompts/SuggestedField";
import { expand, variablesOf } from "./uriTemplate";
import { useReading } from "./useReading";

export function TemplatePanel({
  server,
  template,
  problem,
}: {
  server: ServerView;
  template: Resource;
  problem: string | null;
}) {
  const { read, error } = useReading(server);
  const text = template.uriTemplate ?? "";
  const [values, setValues] = useDraft<Record<string, string>>(
    `template.${server.server_id}/${text}`,
    {},
  );
  const uri = expand(text, values);
  return (
    <div className="scroll pad" style={{ height: "100%" }}>
      <form
        className="stack"
        style={{ maxWidth: 560 }}
        onSubmit={(event) => {
          event.preventDefault();
          read(uri);
        }}
      >
        <Link to={pathTo(server.server_id, "resources")} className="narrow-only">
          All resources
        </Link>
        <h2 className="title">{titleOf(template, text)}</h2>
        <span className="mono dim">{text}</span>
        {template.description && <p style={{ margin: 0 }}>{template.description}</p>}
        {problem && (
          <Callout>The definition of this template is broken: {problem} It can be used.</Callout>
        )}
        {variablesOf(text).map((name) => (
          <SuggestedField
            key={name}
            server={server}
            reference={{ type: "ref/resource", uri: text }}
            name={name}
            values={values}
            onChange={(value) => setValues({ ...values, [name]: value })}
          />
        ))}
        <div>
          <span className="section-title">Address</span>
          <pre className="block">{uri}</pre>
        </div>
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
