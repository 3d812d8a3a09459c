// A URI template: its variables as fields, and the expanded URI.
import type { ServerView } from "../../api/types";
import { CompletionField } from "../../catalog/CompletionField";
import { Definition } from "../../catalog/Definition";
import type { MissingItem } from "../../catalog/NotListed";
import { NotListed } from "../../catalog/NotListed";
import { Callout } from "../../components/Callout";
import { Description } from "../../components/Description";
import { UntrustedText } from "../../components/UntrustedText";
import { useDraft } from "../../state/browserStorage";
import { itemTitle, type Resource } from "../../state/items";
import { ReadForm } from "./ReadForm";
import { Facts } from "./ResourcePanel";
import { expand, variablesOf } from "./uriTemplate";

export function TemplatePanel({
  server,
  template,
  itemKey,
  listed,
  missing = null,
  problem,
}: {
  server: ServerView;
  template: Resource;
  /** Unique key among items of the same URI. */
  itemKey: string;
  /** The definition as the server sent it; undefined if it is not in the list. */
  listed?: unknown;
  missing?: MissingItem | null;
  problem: string | null;
}) {
  const text = template.uriTemplate ?? "";
  const [values, setValues] = useDraft<Record<string, string>>(
    `template.${server.server_id}/${itemKey}`,
    {},
  );
  const uri = expand(text, values);
  return (
    <ReadForm server={server} title={itemTitle(template, text)} uri={uri} template={itemKey}>
      <span className="mono dim" style={{ overflowWrap: "anywhere" }}>
        <UntrustedText>{text}</UntrustedText>
      </span>
      {template.description && <Description text={template.description} />}
      <Facts resource={template} />
      <Definition listed={listed} />
      <NotListed missing={missing} />
      {problem && (
        <Callout>
          The definition of this template is broken: {problem} You can still use it.
        </Callout>
      )}
      {variablesOf(text).map((name) => (
        <CompletionField
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
