// Servers that were found or read: offered one by one, never taken silently.
import { Badge, Button, Checkbox } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import type { FoundView } from "../../api/types";
import { counted } from "../../parts/format";
import { telling } from "../../state/actions";
import { command } from "../../state/connection";

export function FoundList({ found, onDone }: { found: FoundView[]; onDone(): void }) {
  const [chosen, setChosen] = useState<Set<string>>(() => new Set());
  if (found.length === 0) return <p className="dim">No servers in there.</p>;
  const toggle = (key: string): void => {
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    setChosen(next);
  };
  const take = async (): Promise<void> => {
    const servers = Object.fromEntries(
      found.filter((one) => chosen.has(one.qualified)).map((one) => [one.name, one.raw]),
    );
    const written = await telling(
      "The servers were not added",
      command("ServerImport", { servers }),
    );
    if (!written) return;
    notifications.show({
      message: `${counted(written.servers.length, "server")} added to ${written.path}`,
    });
    onDone();
  };
  return (
    <div className="stack">
      <div className="stack tight" style={{ maxHeight: 360, overflow: "auto" }}>
        {found.map((one) => (
          <div key={one.qualified} className="card">
            <div className="row">
              <Checkbox
                checked={chosen.has(one.qualified)}
                disabled={one.problem !== null || one.is_known}
                onChange={() => toggle(one.qualified)}
                label={<strong>{one.name}</strong>}
              />
              <Badge color="gray">{one.source.kind}</Badge>
              {one.is_known && <Badge color="gray">here already</Badge>}
            </div>
            <div className="mono dim" style={{ overflowWrap: "anywhere" }}>
              {one.shown}
            </div>
            {one.problem && <div className="dim">{one.problem.message}</div>}
            {one.inputs.length > 0 && (
              <div className="dim">
                Needs {one.inputs.map((input) => input.variable).join(", ")}
              </div>
            )}
          </div>
        ))}
      </div>
      <div className="row" style={{ justifyContent: "flex-end" }}>
        <Button disabled={chosen.size === 0} onClick={() => void take()}>
          {chosen.size ? `Add ${counted(chosen.size, "server")}` : "Add"}
        </Button>
      </div>
    </div>
  );
}
