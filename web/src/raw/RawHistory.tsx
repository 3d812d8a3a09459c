// Messages to begin with: ready-made ones, any that a server was sent, and the raw calls of this
// session.
import { Button, Menu } from "@mantine/core";
import { useState } from "react";
import type { CallView, EventView } from "../api/types";
import { StatusBadge } from "../calls/CallFacts";
import { Icon } from "../components/Icon";
import { formatDateTime, formatDuration, formatTime, truncate } from "../values/format";
import css from "./RawTester.module.css";
import { useRecordedRequests } from "./useRecordedRequests";

const AT_ONCE = 30;

/** The tool, prompt or URI of a recorded request, if its beginning has it. */
export function nameIn(head: string): string {
  const [, name] = /"(?:name|uri|taskId)"\s*:\s*"([^"\\]*)"/.exec(head) ?? [];
  return truncate(name ?? "", 40);
}

interface ExampleProps {
  examples: { method: string; text: string }[];
  onChoose(text: string): void;
}

/** Ready-made requests, by their methods. */
export function ExampleMenu({ examples, onChoose }: ExampleProps) {
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" rightSection={<Icon name="down" size={12} />}>
          Examples
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {examples.map(({ method, text }) => (
          <Menu.Item key={method} className="mono" onClick={() => onChoose(text)}>
            {method}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

interface MenuProps {
  serverId: string;
  calls: CallView[];
  onCall(call: CallView): void;
  onEvent(event: EventView): void;
}

export function LoadMenu({ serverId, calls, onCall, onEvent }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const [most, setMost] = useState(AT_ONCE);
  const { events, hasMore, problem } = useRecordedRequests(serverId, isOpen, most);
  return (
    <Menu opened={isOpen} onChange={setOpen} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button variant="default" rightSection={<Icon name="down" size={12} />}>
          Load from history
        </Button>
      </Menu.Target>
      <Menu.Dropdown style={{ maxHeight: 360, maxWidth: "92vw", overflow: "auto" }}>
        {calls.length > 0 && <Menu.Label>Calls of this session</Menu.Label>}
        {calls.slice(0, most).map((call) => (
          <Menu.Item key={call.call_id} onClick={() => onCall(call)}>
            <span className="mono">{formatTime(call.started, false)}</span> {call.method || "raw"}{" "}
            {truncate(call.name === call.method ? "" : call.name, 40)}
          </Menu.Item>
        ))}
        {events.length > 0 && <Menu.Label>Earlier sessions</Menu.Label>}
        {events.map((event) => (
          <Menu.Item key={`${event.run_id}/${event.seq}`} onClick={() => onEvent(event)}>
            <span className="mono">{formatDateTime(event.wall)}</span>{" "}
            {event.method ? `${event.method} ${nameIn(event.head)}` : truncate(event.head, 40)}
          </Menu.Item>
        ))}
        {(hasMore || calls.length > most) && (
          <Menu.Item closeMenuOnClick={false} onClick={() => setMost(most + AT_ONCE)}>
            Older…
          </Menu.Item>
        )}
        {problem && <Menu.Label>Earlier sessions cannot be read: {problem}</Menu.Label>}
        {!calls.length && !events.length && !problem && (
          // A menu needs an item.
          <Menu.Item>Nothing was sent to this server yet</Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

interface HistoryProps {
  calls: CallView[];
  shown: CallView | undefined;
  onChoose(call: CallView): void;
  onLoad(call: CallView): void;
}

export function RawHistory({ calls, shown, onChoose, onLoad }: HistoryProps) {
  if (!calls.length) return null;
  return (
    <section className={css.history} aria-label="Sent from here">
      <h2 className="section-title">Sent from here in this session</h2>
      {calls.slice(0, 20).map((call) => {
        const at = formatTime(call.started, false);
        return (
          <div key={call.call_id} className={css.sentRow}>
            <button
              type="button"
              className={`plain ${css.sentFacts}`}
              aria-current={call === shown}
              onClick={() => onChoose(call)}
            >
              <span className="mono dim">{at}</span>
              <span className="mono cut">{call.method || "raw"}</span>
              <StatusBadge call={call} />
              <span className="dim">
                {call.elapsed_s !== null && formatDuration(call.elapsed_s)}
              </span>
            </button>
            <Button
              size="compact-xs"
              variant="subtle"
              aria-label={`Load ${call.method || "raw"} of ${at}`}
              onClick={() => onLoad(call)}
            >
              Load
            </Button>
          </div>
        );
      })}
    </section>
  );
}
