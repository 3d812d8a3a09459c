// Selects the current run, one that another process records now, or a recorded one.
import { Select } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { fetchRuns } from "../api/http";
import type { RunPage, RunView } from "../api/types";
import { useInspector } from "../state/store";
import { formatDateTime, pluralize } from "../values/format";
import { visible } from "../values/hiddenCharacters";

const NOW = "";
const OLDER = "older runs";
const AT_ONCE = 50;
const NONE: RunPage = { runs: [], has_more: false };

const optionOf = (one: RunView) => ({
  value: one.run_id,
  label: [
    formatDateTime(one.started),
    one.servers.join(", ") || one.title,
    one.client && `from ${visible(one.client)}`,
    pluralize(one.event_count, "event"),
  ]
    .filter(Boolean)
    .join(" · "),
});

export function RunChooser() {
  const [query] = useSearchParams();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const current = useInspector((state) => state.run_id);
  const [{ runs, has_more }, setPage] = useState<RunPage>(NONE);
  const [isOpen, setOpen] = useState(false);
  const isAsking = useRef(false);
  const run = query.get("run");
  const load = (most = AT_ONCE): void => void fetchRuns(most).then(setPage, () => setPage(NONE));
  // biome-ignore lint/correctness/useExhaustiveDependencies: an address that names a run needs its name at once
  useEffect(() => {
    if (run !== null) load();
  }, []);
  const pushed = useInspector((state) => state.runs);
  // What was pushed is newer than what was fetched.
  const byId = new Map(runs.map((one) => [one.run_id, one]));
  for (const { run: one } of pushed.values()) byId.set(one.run_id, one);
  const others = [...byId.values()]
    .filter((one) => one.run_id !== current)
    .sort((one, other) => other.started - one.started);
  const live = others.filter((one) => one.is_live).map(optionOf);
  const earlier = others.filter((one) => !one.is_live).map(optionOf);
  const isKnown = run === null || others.some((one) => one.run_id === run);
  return (
    <Select
      aria-label="Which run"
      w={110}
      comboboxProps={{ width: 380, position: "bottom-start" }}
      allowDeselect={false}
      data={[
        { value: NOW, label: "Now" },
        ...(live.length ? [{ group: "Live in another process", items: live }] : []),
        ...(live.length && earlier.length ? [{ group: "Earlier", items: earlier }] : earlier),
        ...(isKnown ? [] : [{ value: run ?? "", label: "Recorded" }]),
        ...(has_more ? [{ value: OLDER, label: "Older runs…" }] : []),
      ]}
      value={run ?? NOW}
      dropdownOpened={isOpen}
      onDropdownOpen={() => {
        setOpen(true);
        load();
      }}
      onDropdownClose={() => {
        // Keep the dropdown open after "Older runs…".
        setOpen(isAsking.current);
        isAsking.current = false;
      }}
      onChange={(next) => {
        if (next === OLDER) {
          isAsking.current = true;
          return load(runs.length + AT_ONCE);
        }
        // A seq names another event in another run.
        const path = pathname.replace(/\/traffic\/.*$/, "/traffic");
        const kept = new URLSearchParams(next ? { run: next } : {});
        // The compared event may be of another run.
        const base = query.get("compare");
        if (base) kept.set("compare", base);
        void navigate(kept.size ? `${path}?${kept}` : path);
      }}
    />
  );
}
