// Selects one of the calls of a tool, prompt or resource: behind the arrow of the call's facts.
import { Menu, Tooltip, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import type { CallView } from "../api/types";
import { Icon } from "../components/Icon";
import { formatTime, pluralize } from "../values/format";
import css from "./CallPanel.module.css";
import { callStatus } from "./callStatus";

// So many that a menu can be read; older ones come on request.
const AT_ONCE = 50;

const wordsOf = (call: CallView): string => {
  const id = call.request_id === null ? "" : ` · id ${call.request_id}`;
  return `${formatTime(call.started, false)} · ${callStatus(call).word}${id}`;
};

export interface Choice {
  calls: CallView[];
  onChoose(callId: string): void;
}

/** Stands last, so that the second call does not shift what was there before. */
export function CallChooser({ calls, onChoose, current }: Choice & { current: CallView | null }) {
  const [most, setMost] = useState(AT_ONCE);
  if (calls.length === 1) return null;
  return (
    <Menu position="bottom-start" onClose={() => setMost(AT_ONCE)}>
      <Tooltip label="Calls made in this session; choose one to see its result">
        <span className={css.target}>
          <Menu.Target>
            <UnstyledButton className={css.chooser}>
              {pluralize(calls.length, "call")}
              <Icon name="down" size={12} />
            </UnstyledButton>
          </Menu.Target>
        </span>
      </Tooltip>
      <Menu.Dropdown className={css.calls}>
        {calls.slice(0, most).map((call) => (
          <Menu.Item
            key={call.call_id}
            aria-current={call.call_id === current?.call_id || undefined}
            rightSection={call.call_id === current?.call_id && <Icon name="check" size={14} />}
            onClick={() => onChoose(call.call_id)}
          >
            {wordsOf(call)}
          </Menu.Item>
        ))}
        {calls.length > most && (
          <Menu.Item closeMenuOnClick={false} onClick={() => setMost(most + AT_ONCE)}>
            Older…
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
