// Servers that were found or pasted, to be selected and added.
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import type { FoundView } from "../../api/types";
import { command } from "../../state/commands";
import { rememberServer } from "../../state/lastVisited";
import { useInspector } from "../../state/store";
import { withErrorToast } from "../../state/toasts";
import { pluralize } from "../../values/format";
import css from "./FoundServerList.module.css";
import { FoundServerRow } from "./FoundServerRow";
import { nameProblemOf, proposeNames } from "./foundServers";

interface Filled {
  choice?: string;
  values: Record<string, string>;
}

interface Props {
  found: FoundView[];
  /** Text if there are none. */
  nothing: string;
  /** Preselects all servers whose name is free. */
  areChosen: boolean;
  /** Read the file again with the filled-in values. */
  again(one: FoundView, filled: Filled): Promise<FoundView[]>;
  onDone(): void;
  /** Search again; only where servers of other tools were searched for. */
  onFileChanged?(): void;
}

const isOffered = (one: FoundView): boolean => one.can_be_added && !one.is_known;

/** Two files of one tool, or two scopes of one file, may use the same name. */
const isSame = (one: FoundView, other: FoundView): boolean =>
  one.name === other.name && one.source.scope === other.source.scope;

export function FoundServerList(props: Props) {
  const { found: given, nothing, areChosen, again, onDone, onFileChanged } = props;
  const servers = useInspector((state) => state.servers);
  const known = new Set(servers.keys());
  const [found, setFound] = useState(given);
  const [names, setNames] = useState(() => proposeNames(given, known));
  const [values, setValues] = useState<Record<string, Record<string, string>>>({});
  const [chosen, setChosen] = useState(
    () => new Set(areChosen ? given.flatMap((one, at) => (isOffered(one) ? [at] : [])) : []),
  );
  if (found.length === 0)
    return (
      <p className="dim" style={{ margin: 0 }}>
        {nothing}
      </p>
    );
  const filledOf = (one: FoundView): Filled => {
    const typed = Object.entries(values[one.source.path] ?? {}).filter(([, value]) => value);
    return { ...(one.choice && { choice: one.choice }), values: Object.fromEntries(typed) };
  };
  const nameProblem = (at: number): string | null => {
    const others = [...chosen].filter((other) => other !== at).map((other) => names[other] ?? "");
    return nameProblemOf(names[at] ?? "", known, others);
  };
  const choose = (at: number, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(at);
    else next.delete(at);
    setChosen(next);
  };
  const takeWay = async (one: FoundView, choice: string): Promise<void> => {
    const way = { ...filledOf(one), choice };
    const next = await withErrorToast("This package cannot be read", again(one, way));
    if (next) setFound(next);
  };
  const entryOf = async (at: number): Promise<[string, FoundView]> => {
    const one = found[at] as FoundView;
    const filled = filledOf(one);
    const isFilled = Object.keys(filled.values).length > 0;
    const fresh = isFilled ? (await again(one, filled)).find((next) => isSame(one, next)) : one;
    return [names[at] ?? one.name, fresh ?? one];
  };
  const take = async (): Promise<void> => {
    const work = Promise.all([...chosen].map(entryOf)).then((entries) =>
      command("ServerImport", {
        servers: Object.fromEntries(entries.map(([name, one]) => [name, one.raw])),
        offers: Object.fromEntries(
          entries.flatMap(([name, one]) => (one.offer_id ? [[name, one.offer_id]] : [])),
        ),
      }),
    );
    const written = await withErrorToast("The servers were not added", work);
    if (!written) return;
    notifications.show({
      message: `${pluralize(written.servers.length, "server")} added to ${written.path}`,
    });
    if (written.servers[0]) rememberServer(written.servers[0]);
    onDone();
  };
  const isReady = chosen.size > 0 && [...chosen].every((at) => nameProblem(at) === null);
  return (
    <div className="stack">
      <div className="stack tight">
        {found.map((one, at) => (
          <FoundServerRow
            key={at}
            one={one}
            name={names[at] ?? ""}
            nameProblem={nameProblem(at)}
            isChosen={chosen.has(at)}
            values={values[one.source.path] ?? {}}
            onChosen={(isChosen) => choose(at, isChosen)}
            onName={(name) => setNames(names.map((old, index) => (index === at ? name : old)))}
            onValues={(next) => setValues({ ...values, [one.source.path]: next })}
            onChoice={(choice) => void takeWay(one, choice)}
            onFileChanged={() => onFileChanged?.()}
          />
        ))}
      </div>
      <div className={`row ${css.foot}`}>
        <span className="dim grow">
          mcplens asks again before a server is first started or contacted.
        </span>
        <Button disabled={!isReady} onClick={() => void take()}>
          {chosen.size ? `Add ${pluralize(chosen.size, "server")}` : "Add"}
        </Button>
      </div>
    </div>
  );
}
