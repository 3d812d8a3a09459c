// Saves a recorded request, of this session or an earlier one, as a test with the recorded answer.
import { ActionIcon, Popover, Tooltip } from "@mantine/core";
import { useState } from "react";
import type { EventView } from "../../api/types";
import { SaveForm } from "../../calls/SaveCallButton";
import { saveRecordedTest } from "../../calls/savedCalls";
import { Icon } from "../../components/Icon";
import css from "./EventDetail.module.css";

export function SaveTestButton({ event: { run_id, seq, server_id } }: { event: EventView }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus position="bottom-end" width={300}>
      <Tooltip label="Save as test" disabled={isOpen}>
        <span className={css.target}>
          <Popover.Target>
            <ActionIcon aria-label="Save as test" onClick={() => setOpen(!isOpen)}>
              <Icon name="collections" />
            </ActionIcon>
          </Popover.Target>
        </span>
      </Tooltip>
      <Popover.Dropdown aria-label="Save as a test">
        <SaveForm
          key={`${run_id}/${seq}`}
          serverId={server_id}
          canBeCall={false}
          onSave={({ key, name, description }) =>
            saveRecordedTest({ run_id, seq }, { key, name, description })
          }
          onDone={() => setOpen(false)}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
