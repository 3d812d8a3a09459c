// The session that a screen shows: this one, one that another process records now, or an earlier
// one, each with its server, its client, what recorded it, when it was, how many messages and errors
// it has, and what was called in it.
import { Badge, Button, Menu } from "@mantine/core";
import { useEffect, useState } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { fetchRuns } from "../api/http";
import type { RunPage, RunView } from "../api/types";
import { Icon } from "../components/Icon";
import { useInspector } from "../state/store";
import {
  formatDateTime,
  formatDuration,
  formatRunSize,
  formatTime,
  isToday,
  pluralize,
} from "../values/format";
import { visible } from "../values/hiddenCharacters";
import css from "./RunChooser.module.css";

const AT_ONCE = 50;
const NONE: RunPage = { runs: [], has_more: false };
const THIS_SESSION = "This session";

const serversOf = ({ servers, title }: RunView): string =>
  visible(servers.join(", ") || title || "No server");

/** When a session began, and how long it took. */
const whenOf = ({ started, ended }: RunView): string =>
  formatDateTime(started) + (ended === null ? "" : ` · ${formatDuration(ended - started)}`);

/** When a session began, without the year, and what was called in it, else its server. */
function shortName(run: RunView): string {
  const { started, called } = run;
  const when = isToday(started) ? formatTime(started, false) : formatDateTime(started).slice(5);
  return `${when}, ${called.length > 0 ? visible(called.join(", ")) : serversOf(run)}`;
}

function Session({ run }: { run: RunView }) {
  return (
    <span className={css.session}>
      <span className={css.first}>
        <strong>{serversOf(run)}</strong>
        {run.client && <span>from {visible(run.client)}</span>}
        {run.title && run.servers.length > 0 && (
          <span className="dim small">
            recorded by <span className="mono">{visible(run.title)}</span>
          </span>
        )}
        {run.is_live && <Badge color="green">Live</Badge>}
      </span>
      <span className={css.second}>
        {whenOf(run)} · {formatRunSize(run)}
        {run.error_count > 0 && (
          <>
            {" · "}
            <span className="bad">{pluralize(run.error_count, "error")}</span>
          </>
        )}
      </span>
      {run.called.length > 0 && (
        <span className={`cut mono ${css.second}`}>{visible(run.called.join(", "))}</span>
      )}
    </span>
  );
}

/** All other sessions that are known: what was pushed is newer than what was fetched. */
function useOthers(fetched: RunView[]): RunView[] {
  const current = useInspector((state) => state.run_id);
  const pushed = useInspector((state) => state.runs);
  const byId = new Map(fetched.map((one) => [one.run_id, one]));
  for (const { run } of pushed.values()) byId.set(run.run_id, run);
  return [...byId.values()]
    .filter((one) => one.run_id !== current)
    .sort((one, other) => other.started - one.started);
}

function useChosenRun() {
  const [query] = useSearchParams();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const choose = (next: string | null): void => {
    // A seq names another event in another run.
    const path = pathname.replace(/\/traffic\/.*$/, "/traffic");
    const kept = new URLSearchParams(next ? { run: next } : {});
    // The compared event may be of another run.
    const base = query.get("compare");
    if (base) kept.set("compare", base);
    void navigate(kept.size ? `${path}?${kept}` : path);
  };
  return { run: query.get("run"), choose };
}

interface GroupProps {
  label: string;
  runs: RunView[];
  chosen: string | null;
  onChoose(runId: string): void;
}

function Group({ label, runs, chosen, onChoose }: GroupProps) {
  if (runs.length === 0) return null;
  return (
    <>
      <Menu.Label>{label}</Menu.Label>
      {runs.map((one) => (
        <Menu.Item
          key={one.run_id}
          aria-current={one.run_id === chosen}
          className={css.item}
          onClick={() => onChoose(one.run_id)}
        >
          <Session run={one} />
        </Menu.Item>
      ))}
    </>
  );
}

/** `offer` is the text of a button that is there only if there is another session to open. */
export function RunChooser({ offer }: { offer?: string }) {
  const { run, choose } = useChosenRun();
  const [{ runs, has_more }, setPage] = useState<RunPage>(NONE);
  const load = (most = AT_ONCE): void => void fetchRuns(most).then(setPage, () => setPage(NONE));
  const others = useOthers(runs);
  const shown = others.find((one) => one.run_id === run);
  const isNameless = run !== null && shown === undefined;
  // Before that the page may not be signed in yet.
  const isLinked = useInspector((state) => state.link.state === "open");
  // biome-ignore lint/correctness/useExhaustiveDependencies: an address that names a run needs its name at once
  useEffect(() => {
    if (isLinked && (isNameless || offer !== undefined)) load();
  }, [run, isLinked]);
  const earlier = shown ? `${formatDateTime(shown.started)}, ${serversOf(shown)}` : "Recorded";
  const label = run === null ? THIS_SESSION : earlier;
  // What tells it from others comes first, since it may be cut: a longer button would move the others
  // into another row.
  const short = shown ? shortName(shown) : label;
  const group = { chosen: run, onChoose: choose };
  if (offer !== undefined && others.length === 0) return null;
  return (
    <Menu position="bottom-start" width={400} onOpen={() => load()}>
      <Menu.Target>
        <Button
          variant={run === null ? "default" : "light"}
          className={css.button ?? ""}
          maw={200}
          leftSection={<Icon name="history" size={14} />}
          rightSection={<Icon name="down" size={12} />}
          {...(offer === undefined && { "aria-label": `Session: ${short}`, title: label })}
        >
          <span className="cut">{offer ?? short}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={css.list}>
        {offer === undefined && (
          <Menu.Item aria-current={run === null} className={css.item} onClick={() => choose(null)}>
            {THIS_SESSION}
          </Menu.Item>
        )}
        <Group
          label="Live in another process"
          runs={others.filter((one) => one.is_live)}
          {...group}
        />
        <Group label="Earlier sessions" runs={others.filter((one) => !one.is_live)} {...group} />
        {has_more && (
          <Menu.Item closeMenuOnClick={false} onClick={() => load(runs.length + AT_ONCE)}>
            Older sessions…
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
