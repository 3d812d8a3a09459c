// Selects the current run or a recorded one.
import { Select } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { fetchRuns } from "../api/http";
import type { RunPage } from "../api/types";
import { useInspector } from "../state/store";
import { formatDateTime, pluralize } from "../values/format";

const NOW = "";
const OLDER = "older runs";
const AT_ONCE = 50;
const NONE: RunPage = { runs: [], has_more: false };

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
  const earlier = runs
    .filter((one) => one.run_id !== current)
    .map((one) => ({
      value: one.run_id,
      label: `${formatDateTime(one.started)} · ${one.servers.join(", ") || one.title} · ${pluralize(one.event_count, "event")}`,
    }));
  const isKnown = run === null || earlier.some((one) => one.value === run);
  return (
    <Select
      aria-label="Which run"
      w={110}
      comboboxProps={{ width: 380, position: "bottom-start" }}
      allowDeselect={false}
      data={[
        { value: NOW, label: "Now" },
        ...earlier,
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
