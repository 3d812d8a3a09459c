// Menu of the current server, with the state of all others.
import { Kbd, Menu, UnstyledButton } from "@mantine/core";
import { useNavigate } from "react-router";
import type { ServerView } from "../api/types";
import { Icon } from "../components/Icon";
import { StateDot } from "../components/StateDot";
import { UntrustedText } from "../components/UntrustedText";
import { RESTART_KEY, restart, restartLabel } from "../servers/connectionActions";
import { serverName, useSwitchServer } from "../state/navigation";
import { useInspector } from "../state/store";
import { formatDuration } from "../values/format";
import { displayState, stateLabel } from "../values/serverState";
import css from "./ServerSwitcher.module.css";
import { useBackendDown } from "./useBackendDown";

/** State, latency and revision: a narrow bar has no space for all of it. */
const statusSummary = (server: ServerView): string =>
  [
    stateLabel(server),
    server.state === "CONNECTED" && server.latency_s !== null && formatDuration(server.latency_s),
    server.protocol_version,
  ]
    .filter(Boolean)
    .join(" · ");

export function ServerSwitcher({ server }: { server: ServerView | null }) {
  const servers = useInspector((state) => state.servers);
  const isDown = useBackendDown();
  const switchTo = useSwitchServer();
  const navigate = useNavigate();
  return (
    <Menu width={280} position="bottom-start">
      <Menu.Target>
        <UnstyledButton
          className={css.switch}
          aria-label={
            server
              ? `Server: ${serverName(server)}, ${isDown ? "unknown" : stateLabel(server)}`
              : "No server"
          }
        >
          {server ? (
            <StateDot state={isDown ? "DISCONNECTED" : displayState(server)} />
          ) : (
            <Icon name="servers" />
          )}
          <span className="cut grow">
            <UntrustedText>{server ? serverName(server) : "No server"}</UntrustedText>
          </span>
          <Icon name="down" size={12} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown className={css.list}>
        {[...servers.values()].map((one) => (
          <Menu.Item
            key={one.server_id}
            leftSection={<StateDot state={displayState(one)} />}
            rightSection={one.server_id === server?.server_id && <Icon name="check" size={14} />}
            aria-current={one.server_id === server?.server_id || undefined}
            onClick={() => switchTo(one.server_id)}
          >
            <div className="cut">
              <UntrustedText>{serverName(one)}</UntrustedText>
            </div>
            <div className="dim">{statusSummary(one)}</div>
          </Menu.Item>
        ))}
        {servers.size > 0 && <Menu.Divider />}
        {server && (
          <Menu.Item
            leftSection={<Icon name="refresh" size={14} />}
            rightSection={<Kbd size="xs">{RESTART_KEY.shown}</Kbd>}
            onClick={() => restart(server)}
          >
            {restartLabel(server)} this server
          </Menu.Item>
        )}
        <Menu.Item
          leftSection={<Icon name="add" size={14} />}
          onClick={() => void navigate("/servers?add")}
        >
          Add a server
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
