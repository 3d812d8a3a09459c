// Which run is looked at: this one, or one of the recording.
import { Select } from "@mantine/core";
import { useEffect, useState } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { fetchRuns } from "../../api/http";
import type { RunView } from "../../api/types";
import { counted, moment } from "../../parts/format";
import { useInspector } from "../../state/store";

const NOW = "";

export function RunChooser() {
  const [query] = useSearchParams();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const current = useInspector((state) => state.run_id);
  const [runs, setRuns] = useState<RunView[]>([]);
  const run = query.get("run");
  const load = (): void =>
    void fetchRuns().then(
      (page) => setRuns(page.runs),
      () => setRuns([]),
    );
  // biome-ignore lint/correctness/useExhaustiveDependencies: an address that names a run needs its name at once
  useEffect(() => {
    if (run !== null) load();
  }, []);
  const earlier = runs
    .filter((one) => one.run_id !== current)
    .map((one) => ({
      value: one.run_id,
      label: `${moment(one.started)} · ${one.servers.join(", ") || one.title} · ${counted(one.event_count, "event")}`,
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
      ]}
      value={run ?? NOW}
      onDropdownOpen={load}
      onChange={(next) => {
        // A number of an event means another one in another run.
        const path = pathname.replace(/\/traffic\/.*$/, "/traffic");
        const kept = new URLSearchParams(next ? { run: next } : {});
        // What is compared may be of another run.
        const base = query.get("compare");
        if (base) kept.set("compare", base);
        void navigate(kept.size ? `${path}?${kept}` : path);
      }}
    />
  );
}
