// A template: its variables as fields, the address they make, and opening it.
import type { ServerView } from "../../api/types";
import { Callout } from "../../parts/Callout";
import { type Resource, titleOf } from "../../state/items";
import { useDraft } from "../../state/remembered";
import { SuggestedField } from "../prompts/SuggestedField";
import { ReadForm } from "./ReadForm";
import { expand, variablesOf } from "./uriTemplate";

export function TemplatePanel({
  server,
  template,
  problem,
}: {
  server: ServerView;
  template: Resource;
  problem: string | null;
}) {
  const text = template.uriTemplate ?? "";
  const [values, setValues] = useDraft<Record<string, string>>(
    `template.${server.server_id}/${text}`,
    {},
  );
  const uri = expand(text, values);
  return (
    <ReadForm server={server} title={titleOf(template, text)} uri={uri}>
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
    </ReadForm>
  );
}
