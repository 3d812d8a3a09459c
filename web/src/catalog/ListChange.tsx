// Notice that the server changed a list, with the changed items.
import { Badge, Popover, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import type { ListChangeView, ListKind, NamesView } from "../api/types";
import { Icon } from "../components/Icon";
import { UntrustedText } from "../components/UntrustedText";
import type { List } from "../state/lists";
import { pathTo } from "../state/navigation";
import { formatTime } from "../values/format";
import css from "./ListChange.module.css";

interface Props {
  serverId: string;
  kind: ListKind;
  list: List;
}

const pathOf = (serverId: string, kind: ListKind, key: string): string =>
  kind === "resource_templates"
    ? `${pathTo(serverId, "resources")}?template=${encodeURIComponent(key)}`
    : pathTo(serverId, kind, key);

interface GroupProps {
  what: string;
  group: NamesView;
  /** Undefined for removed items. */
  path?(name: string): string;
  onGo(): void;
}

function Group({ what, group, path, onGo }: GroupProps) {
  if (group.count === 0) return null;
  const rest = group.count - group.names.length;
  return (
    <div>
      <strong>{`${group.count.toLocaleString("en")} ${what}`}</strong>
      <ul className={css.names}>
        {group.names.map((name) => (
          <li key={name} className="mono">
            {path ? (
              <Link to={path(name)} onClick={onGo}>
                <UntrustedText>{name}</UntrustedText>
              </Link>
            ) : (
              <UntrustedText>{name}</UntrustedText>
            )}
          </li>
        ))}
        {rest > 0 && <li className="dim">{`and ${rest.toLocaleString("en")} more`}</li>}
      </ul>
    </div>
  );
}

interface GroupsProps {
  serverId: string;
  kind: ListKind;
  change: ListChangeView;
  onGo(): void;
}

function Groups({ serverId, kind, change, onGo }: GroupsProps) {
  const { at, added, changed, removed } = change;
  const isSame = added.count + changed.count + removed.count === 0;
  const path = (name: string): string => pathOf(serverId, kind, name);
  // Focusable, so that it can be scrolled by keyboard: removed items have no links.
  return (
    <section className={css.groups} aria-label="What changed" tabIndex={0}>
      <span className="dim">
        {isSame ? "The list is the same as before." : `Changed at ${formatTime(at, false)}`}
      </span>
      <Group what="added" group={added} path={path} onGo={onGo} />
      <Group what="changed" group={changed} path={path} onGo={onGo} />
      <Group what="removed" group={removed} onGo={onGo} />
    </section>
  );
}

export function ListChange({ serverId, kind, list }: Props) {
  const [isOpen, setOpen] = useState(false);
  const { is_changed = false, fetched = 0 } = list.summary ?? {};
  if (!is_changed) return null;
  const told = `changed, refreshed at ${formatTime(fetched, false)}`;
  // The difference is unknown if only a part was loaded before, or until the new list has loaded.
  if (!list.change || list.fetched !== fetched)
    return (
      <Badge color="yellow" title="The server said that the list changed">
        {told}
      </Badge>
    );
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-start"
      width={300}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <UnstyledButton
          className={css.told}
          title="The server said that the list changed: show what changed"
          onClick={() => setOpen(!isOpen)}
        >
          {told} <Icon name="down" size={10} />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Groups serverId={serverId} kind={kind} change={list.change} onGo={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}
