// Which columns the table has, and in which order; and folding all rows at once.
import { ActionIcon, Button, Checkbox, Popover, Tooltip } from "@mantine/core";
import { Icon } from "../../components/Icon";
import css from "./ColumnsMenu.module.css";
import { isVisible, orderedColumns } from "./columnLayout";
import type { TrafficColumn } from "./columns";
import type { ColumnChoices } from "./useColumnChoice";

interface Props {
  choices: ColumnChoices;
  /** Undefined where nothing can be folded. */
  onFold?(isClosed: boolean): void;
}

const nameOf = ({ label, title }: TrafficColumn): string =>
  label === "#" ? (title ?? label) : label;

function ColumnLine({ column, choices }: { column: TrafficColumn; choices: ColumnChoices }) {
  const name = nameOf(column);
  const isShown = isVisible(column, choices.choice);
  const mover = (by: number, icon: "up" | "down", word: string) => (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label={`Move ${name} ${word}`}
      disabled={!isShown}
      onClick={() => choices.move(column.id, by)}
    >
      <Icon name={icon} size={12} />
    </ActionIcon>
  );
  return (
    <li className={css.line}>
      <Checkbox label={name} checked={isShown} onChange={() => choices.toggle(column)} />
      <span className="grow" />
      {mover(-1, "up", "left")}
      {mover(1, "down", "right")}
    </li>
  );
}

export function ColumnsMenu({ choices, onFold }: Props) {
  return (
    <Popover position="bottom-end" width={312} trapFocus>
      <Popover.Target>
        <Tooltip label="Columns, and folding all rows">
          <ActionIcon variant="default" size={30} aria-label="Columns">
            <Icon name="table" />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown>
        <ul className={css.list} aria-label="Columns">
          {orderedColumns(choices.all, choices.choice).map((column) => (
            <ColumnLine key={column.id} column={column} choices={choices} />
          ))}
        </ul>
        <div className="row wrap">
          <Button variant="default" size="compact-xs" onClick={choices.reset}>
            Reset columns
          </Button>
          {onFold && (
            <>
              <Button variant="default" size="compact-xs" onClick={() => onFold(true)}>
                Collapse all
              </Button>
              <Button variant="default" size="compact-xs" onClick={() => onFold(false)}>
                Expand all
              </Button>
            </>
          )}
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
