// Popover with all pinned events, of this run and earlier ones.
import { ActionIcon, Button, Popover } from "@mantine/core";
import { useState } from "react";
import { useNavigate } from "react-router";
import type { EventView } from "../../api/types";
import { Icon } from "../../components/Icon";
import { eventKey, unpin, usePins } from "../../events/pins";
import { pathTo } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { formatDateTime } from "../../values/format";
import { eventTitle } from "./messagePreview";
import css from "./PinList.module.css";

export function PinList() {
  const pins = usePins((state) => state.list);
  const current = useInspector((state) => state.run_id);
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const go = (event: EventView): void => {
    setOpen(false);
    const path = event.server_id
      ? pathTo(event.server_id, "traffic", event.seq)
      : `/traffic/${event.seq}`;
    const run = event.run_id === current ? "" : `?run=${encodeURIComponent(event.run_id)}`;
    void navigate(path + run);
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus position="bottom-end" width={340}>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<Icon name="pin" size={14} />}
          onClick={() => setOpen(!isOpen)}
        >
          Pins{pins.length ? ` ${pins.length}` : ""}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        {pins.length === 0 ? (
          <p className="dim">
            Nothing is pinned. Choose a row and press Pin to keep it under a label, even after its
            session is deleted.
          </p>
        ) : (
          <ul className={css.list} aria-label="Pins">
            {pins.map(({ label, event }) => (
              <li key={eventKey(event)} className={css.item}>
                <button type="button" className={`plain ${css.go}`} onClick={() => go(event)}>
                  <span className={css.label}>{label || eventTitle(event)}</span>
                  <span className="dim">
                    {label && `${eventTitle(event)} · `}
                    {event.server_id} · {formatDateTime(event.wall)}
                  </span>
                </button>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Unpin ${label || eventTitle(event)}`}
                  onClick={() => void unpin(event)}
                >
                  <Icon name="close" size={12} />
                </ActionIcon>
              </li>
            ))}
          </ul>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
