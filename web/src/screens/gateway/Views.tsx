// The views: what each publishes, and what it hides and why.
import { useState } from "react";
import type { HiddenView, PublishedView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { Icon } from "../../components/Icon";
import { UntrustedText } from "../../components/UntrustedText";
import { command } from "../../state/commands";
import { pluralize } from "../../values/format";
import css from "./Gateway.module.css";
import { Cell, Heads, Section, SetIn } from "./Section";
import { useReply } from "./useReply";

const NAMES: Record<string, string> = {
  tools: "tool",
  prompts: "prompt",
  resources: "resource",
  resource_templates: "template",
};

const published = ({ tools, prompts, resources }: PublishedView): string =>
  [
    pluralize(tools, "tool"),
    ...(prompts ? [pluralize(prompts, "prompt")] : []),
    ...(resources ? [pluralize(resources, "resource")] : []),
  ].join(", ");

const nameOf = (view: PublishedView): string => view.name || "Everything";

/** What is hidden for the same reason stands together. */
function byReason(hidden: HiddenView[]): [reason: string, items: HiddenView[]][] {
  const groups = new Map<string, HiddenView[]>();
  for (const one of hidden) {
    const group = groups.get(one.reason);
    if (group) group.push(one);
    else groups.set(one.reason, [one]);
  }
  return [...groups];
}

function Hidden({ view }: { view: PublishedView }) {
  const more = view.hidden_count - view.hidden.length;
  return (
    <section className={css.hidden} aria-label={`Hidden by ${nameOf(view)}`} tabIndex={0}>
      {byReason(view.hidden).map(([reason, items]) => (
        <div key={reason}>
          <div className="mono">{reason}</div>
          <ul>
            {items.map(({ kind, server_id, name }) => (
              <li key={`${kind} ${server_id} ${name}`}>
                <span className="mono">
                  <UntrustedText>{`${server_id}:${name}`}</UntrustedText>
                </span>{" "}
                <span className="dim">{NAMES[kind] ?? kind}</span>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {more > 0 && <p className="dim">And {more.toLocaleString("en")} more.</p>}
    </section>
  );
}

function Row({ view }: { view: PublishedView }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <tr>
        <Cell label="View">{nameOf(view)}</Cell>
        <Cell label="At">
          <span className="mono">{view.path}</span>
        </Cell>
        <Cell label="Publishes">{published(view)}</Cell>
        <Cell label="Token">{view.has_own_token ? "Its own" : "The gateway's"}</Cell>
        <Cell label="Hides">
          {view.hidden_count === 0 ? (
            <span className="dim">nothing</span>
          ) : (
            <button
              type="button"
              className={`plain ${css.opener}`}
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name={isOpen ? "down" : "chevron"} size={12} />
              {view.hidden_count.toLocaleString("en")}
              <span className="sr"> hidden by {nameOf(view)}</span>
            </button>
          )}
        </Cell>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={5}>
            <Hidden view={view} />
          </td>
        </tr>
      )}
    </>
  );
}

/** Names that collided or were left out. */
function Problems({ problems }: { problems: string[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className={`plain ${css.problem}`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="alert" size={13} />
        {pluralize(
          problems.length,
          "name collides or is left out",
          "names collide or are left out",
        )}
      </button>
      {isOpen && (
        <ul className={css.problems}>
          {problems.map((problem) => (
            <li key={problem}>
              <UntrustedText>{problem}</UntrustedText>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

export function Views({ revision }: { revision: number }) {
  const { value: views, error } = useReply(revision, () => command("PublishedViews", {}));
  const problems = [...new Set(views?.flatMap((view) => view.problems) ?? [])];
  return (
    <Section title="Views" note={<SetIn setting="views" shown="views" />}>
      {error && <ErrorNote error={error} title="The views cannot be shown" />}
      {views && (
        <table className="plain stacking">
          <Heads names={["View", "At", "Publishes", "Token", "Hides"]} />
          <tbody>
            {views.map((view) => (
              <Row key={view.path} view={view} />
            ))}
          </tbody>
        </table>
      )}
      {problems.length > 0 && <Problems problems={problems} />}
    </Section>
  );
}
