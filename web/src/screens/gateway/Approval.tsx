// What waits for approval: new and changed definitions with their changes, and Approve.
import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import type { ApprovalView, WaitingView } from "../../api/types";
import { DiffLines } from "../../components/DiffLines";
import { ErrorNote } from "../../components/ErrorNote";
import { Icon } from "../../components/Icon";
import { UntrustedText } from "../../components/UntrustedText";
import { useBusy } from "../../components/useBusy";
import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";
import { diffOf, hunksOf } from "../../values/diff";
import { pluralize } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import css from "./Gateway.module.css";
import { Cell, Heads, Section, SetIn } from "./Section";
import { useReply } from "./useReply";

const nameOf = ({ server_id, name }: WaitingView): string =>
  name ? `${server_id}:${name}` : server_id;

const keyOf = (one: WaitingView): string =>
  JSON.stringify([one.view, one.kind, one.server_id, one.name, one.sha256]);

const stateOf = (one: WaitingView): string =>
  `${one.before === null ? "New" : "Changed"}, ${one.is_held ? "held back" : "published"}`;

const approve = (chosen: WaitingView[]) =>
  withErrorToast(
    "Not everything was approved",
    command("ApproveDefinitions", {
      chosen: chosen.map(({ view, kind, server_id, name, sha256 }) => ({
        view,
        kind,
        server_id,
        name,
        sha256,
      })),
    }),
  );

/** The changes by their rules, and the definition line by line. */
function Changes({ one }: { one: WaitingView }) {
  const compared = useMemo(() => {
    const diff = diffOf(visible(one.before ?? ""), visible(one.after));
    return { diff, hunks: hunksOf(diff.lines), isCut: diff.is_cut };
  }, [one.before, one.after]);
  return (
    <section className={css.hidden} aria-label={`Changes of ${nameOf(one)}`} tabIndex={0}>
      <ul className={css.changes}>
        {one.changes.map(({ change_class, rule, pointer, message }) => (
          <li key={`${rule} ${pointer}`}>
            <strong>{change_class}</strong> <UntrustedText>{message}</UntrustedText>{" "}
            <span className="dim">[{rule}]</span>
          </li>
        ))}
      </ul>
      <DiffLines
        before={one.before === null ? "not there" : "approved"}
        after="now"
        {...compared}
      />
    </section>
  );
}

function Row({ one }: { one: WaitingView }) {
  const [isOpen, setOpen] = useState(false);
  const { isBusy, run } = useBusy();
  return (
    <>
      <tr>
        <Cell label="Definition">
          <button
            type="button"
            className={`plain ${css.opener}`}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name={isOpen ? "down" : "chevron"} size={12} />
            <span className="mono">
              <UntrustedText>{nameOf(one)}</UntrustedText>
            </span>
          </button>
        </Cell>
        <Cell label="Kind">{one.word}</Cell>
        <Cell label="View">{one.view || "Everything"}</Cell>
        <Cell label="State">{stateOf(one)}</Cell>
        <Cell label="Change">{one.changes[0]?.change_class}</Cell>
        <Cell label="">
          <Button
            size="compact-xs"
            variant="default"
            loading={isBusy}
            aria-label={`Approve ${nameOf(one)} in ${one.view || "Everything"}`}
            onClick={() => run(() => approve([one]))}
          >
            Approve
          </Button>
        </Cell>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={6}>
            <Changes one={one} />
          </td>
        </tr>
      )}
    </>
  );
}

function Waiting({ count, waiting }: ApprovalView) {
  const { isBusy, run } = useBusy();
  const all = waiting.length < count ? `Approve these ${waiting.length}` : "Approve all";
  return (
    <>
      <table className="plain stacking">
        <Heads names={["Definition", "Kind", "View", "State", "Change", ""]} />
        <tbody>
          {waiting.map((one) => (
            <Row key={keyOf(one)} one={one} />
          ))}
        </tbody>
      </table>
      <div className="row">
        <Button variant="default" loading={isBusy} onClick={() => run(() => approve(waiting))}>
          {all}
        </Button>
        <span className="dim">{pluralize(count, "definition waits", "definitions wait")}</span>
      </div>
    </>
  );
}

export function Approval({ revision }: { revision: string }) {
  const { value, error } = useReply(revision, () => command("WaitingDefinitions", {}));
  return (
    <Section title="Approval" note={<SetIn setting="gateway" shown="approval" />}>
      {error && <ErrorNote error={error} title="What waits for approval cannot be shown" />}
      {value?.problem && <p className="bad">{value.problem}</p>}
      {value && value.count === 0 && <p className="dim">Everything published is approved.</p>}
      {value && value.count > 0 && <Waiting {...value} />}
    </Section>
  );
}
