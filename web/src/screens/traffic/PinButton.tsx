// Pins one event, with a label.
import { ActionIcon, Button, Popover, TextInput, Tooltip } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { EventView } from "../../api/types";
import { Icon } from "../../components/Icon";
import { eventKey, pin, unpin, usePins } from "../../events/pins";
import css from "./EventDetail.module.css";

// The backend's limit.
const LONGEST = 200;

export function PinButton({ event }: { event: EventView }) {
  const label = usePins((state) => state.labels.get(eventKey(event)));
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const isPinned = label !== undefined;
  const open = (on: boolean): void => {
    setText(label ?? "");
    setOpen(on);
  };
  const submit = (form: FormEvent): void => {
    form.preventDefault();
    setOpen(false);
    void pin(event, text);
  };
  return (
    <Popover opened={isOpen} onChange={open} trapFocus position="bottom-end" width={260}>
      <Tooltip
        label={isPinned ? label || "Pinned" : "Pin: keep it under a label"}
        disabled={isOpen}
      >
        <span className={css.target}>
          <Popover.Target>
            <ActionIcon
              variant={isPinned ? "light" : "subtle"}
              color={isPinned ? "lens" : "gray"}
              aria-label={isPinned ? "Pinned" : "Pin"}
              onClick={() => open(!isOpen)}
            >
              <Icon name="pin" />
            </ActionIcon>
          </Popover.Target>
        </span>
      </Tooltip>
      <Popover.Dropdown>
        <form className="stack" onSubmit={submit}>
          <TextInput
            label="Label"
            placeholder="Why you pinned it"
            maxLength={LONGEST}
            value={text}
            onChange={(change) => setText(change.currentTarget.value)}
            data-autofocus
          />
          <div className="row">
            <Button type="submit" size="compact-sm">
              {isPinned ? "Save" : "Pin it"}
            </Button>
            {isPinned && (
              <Button
                variant="default"
                size="compact-sm"
                onClick={() => {
                  setOpen(false);
                  void unpin(event);
                }}
              >
                Unpin
              </Button>
            )}
          </div>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
