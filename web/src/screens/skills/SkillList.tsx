// The skills of a server: search, verification of all, a skill by its URI, and the rows.
import { ActionIcon, Button, TextInput, Tooltip } from "@mantine/core";
import { useDeferredValue, useMemo, useState } from "react";
import type { SkillView } from "../../api/types";
import { ButtonWithReason } from "../../components/ButtonWithReason";
import { Callout } from "../../components/Callout";
import { EmptyState } from "../../components/EmptyState";
import { Icon } from "../../components/Icon";
import { NoSearchMatches } from "../../components/NoMatches";
import { SearchField } from "../../components/SearchField";
import { UntrustedText } from "../../components/UntrustedText";
import { VirtualList } from "../../components/VirtualList";
import { formatTime } from "../../values/format";
import css from "./Skills.module.css";
import { StatusMark } from "./StatusMark";
import { matchingSkills, statusOfSkill, type Verdicts } from "./skillStatus";
import type { Skills } from "./useSkills";

interface Props {
  skills: Skills;
  chosen: string | null;
  isConnected: boolean;
  onChoose(uri: string): void;
  /** Compares the skills with a folder on this computer. */
  onCompare(): void;
}

interface RowProps {
  skill: SkillView;
  verdicts: Verdicts;
  /** Another skill has the same name. */
  isAmbiguous: boolean;
}

function Row({ skill, verdicts, isAmbiguous }: RowProps) {
  const status = statusOfSkill(skill, verdicts);
  return (
    <>
      <div className="row">
        <span className={`cut grow ${css.name}`}>
          <UntrustedText>{skill.name || skill.uri || "(no name)"}</UntrustedText>
        </span>
        {status && <StatusMark {...status} />}
      </div>
      <span className="cut dim small">
        <UntrustedText>{isAmbiguous ? skill.uri : skill.description}</UntrustedText>
      </span>
    </>
  );
}

/** A list may be partial: the URI of a SKILL.md finds the others. */
function OpenByUri({ onOpen }: { onOpen(uri: string): void }) {
  const [uri, setUri] = useState("");
  return (
    <form
      className={css.open}
      onSubmit={(event) => {
        event.preventDefault();
        if (uri.trim()) onOpen(uri.trim());
      }}
    >
      <TextInput
        className="grow"
        aria-label="URI of a SKILL.md that is not listed"
        placeholder="URI of a skill that is not listed"
        value={uri}
        onChange={(event) => setUri(event.currentTarget.value)}
      />
      <Button type="submit" variant="default">
        Open
      </Button>
    </form>
  );
}

export function SkillList({ skills, chosen, isConnected, onChoose, onCompare }: Props) {
  const { list, verdicts, isBusy } = skills;
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text);
  const all = list?.skills;
  const shown = useMemo(() => matchingSkills(all ?? [], wanted), [all, wanted]);
  const counts = useMemo(() => {
    const found = new Map<string, number>();
    for (const { name } of all ?? []) found.set(name, (found.get(name) ?? 0) + 1);
    return found;
  }, [all]);
  const obstacle = isConnected ? null : "The server is not connected";
  const when = list ? `Listed at ${formatTime(list.fetched, false)}. ` : "";
  return (
    <div className="pane">
      <div className="toolbar">
        <SearchField label="Search skills" value={text} onChange={setText} className={css.search} />
        <ButtonWithReason
          variant="default"
          loading={isBusy}
          disabledReason={obstacle}
          hint="Read every file of every skill, and compare it with its manifest"
          onClick={() => skills.verify(null)}
        >
          Verify all
        </ButtonWithReason>
        <Tooltip label="Compare with a folder on this computer: why is my skill missing?">
          <ActionIcon aria-label="Compare with a folder" onClick={onCompare}>
            <Icon name="folder" size={14} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={when + (obstacle ?? "List again")}>
          <ActionIcon
            aria-label="List the skills again"
            aria-disabled={!isConnected}
            data-disabled={!isConnected || undefined}
            onClick={() => isConnected && skills.refresh()}
          >
            <Icon name="refresh" size={14} />
          </ActionIcon>
        </Tooltip>
      </div>
      {list?.cut && <Callout>There may be more skills: {list.cut}</Callout>}
      {list?.findings.map((finding) => (
        <Callout key={finding.text}>{finding.text}</Callout>
      ))}
      {list && list.skills.length === 0 && (
        <EmptyState icon="skills" title="No skills are listed">
          A server need not list all that it has: open one by its URI.
        </EmptyState>
      )}
      {list && list.skills.length > 0 && shown.length === 0 && (
        <NoSearchMatches text={wanted} onClear={() => setText("")} />
      )}
      <VirtualList
        label="Skills"
        items={shown}
        keyOf={(skill) => skill.uri}
        chosen={chosen}
        onChoose={(skill) => onChoose(skill.uri)}
        render={(skill) => (
          <Row
            skill={skill}
            verdicts={verdicts}
            isAmbiguous={skill.name !== "" && (counts.get(skill.name) ?? 0) > 1}
          />
        )}
      />
      <OpenByUri onOpen={onChoose} />
    </div>
  );
}
