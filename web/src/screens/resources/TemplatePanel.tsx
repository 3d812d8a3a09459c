// A template: its variables as fields, the address they make, and opening it.
import { Button } from "@mantine/core";
import { Link, useNavigate } from "react-router";
import type { ServerView } from "../../api/types";
import { useDraft } from "../../state/remembered";
import { pathTo } from "../../state/selection";
import { SuggestedField } from "../prompts/SuggestedField";
import type { Resource } from "./Resources";
import { expand, variablesOf } from "./uriTemplate";

export function TemplatePanel({ server, template }: { server: ServerView; template: Resource }) {
  const navigate = useNavigate();
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
          void navigate(pathTo(server.server_id, "resources", uri));
        }}
      >
        <Link to={pathTo(server.server_id, "resources")} className="narrow-only">
          All resources
        </Link>
        <h2 className="title">{template.title ?? template.name ?? text}</h2>
        <span className="mono dim">{text}</span>
        {template.description && <p style={{ margin: 0 }}>{template.description}</p>}
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
        <div>
          <Button type="submit" disabled={server.state !== "CONNECTED"}>
            Read it
          </Button>
        </div>
      </form>
    </div>
  );
}
