// Saves a recorded request, of this session or an earlier one, as a test with the recorded answer.
import { ActionIcon, Popover } from "@mantine/core";
import { useState } from "react";
import type { EventView } from "../../api/types";
import { SaveForm } from "../../calls/SaveCallButton";
import { saveRecordedTest } from "../../calls/savedCalls";
import { Icon } from "../../components/Icon";

export function SaveTestButton({ event: { run_id, seq, server_id } }: { event: EventView }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus position="bottom-end" width={300}>
      <Popover.Target>
        <ActionIcon aria-label="Save as test" title="Save as test" onClick={() => setOpen(!isOpen)}>
          <Icon name="collections" />
        </ActionIcon>
      </Popover.Target>
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
