// The gateway: on or off, how clients reach it, and what flows through it.
import { Button } from "@mantine/core";
import type { GatewayView } from "../../api/types";
import { ButtonWithReason } from "../../components/ButtonWithReason";
import { EmptyState } from "../../components/EmptyState";
import { ErrorNote } from "../../components/ErrorNote";
import { StateDot } from "../../components/StateDot";
import { useBusy } from "../../components/useBusy";
import { command } from "../../state/commands";
import { useInspector } from "../../state/store";
import { withErrorToast } from "../../state/toasts";
import { formatTime, pluralize } from "../../values/format";
import { Access } from "./Access";
import { Approval } from "./Approval";
import { Audit } from "./Audit";
import { Clients } from "./Clients";
import css from "./Gateway.module.css";
import { Limits } from "./Limits";
import { Replicas } from "./Replicas";
import { Servers } from "./Servers";
import { SignIns } from "./SignIns";
import { Views } from "./Views";

function stateWords(gateway: GatewayView): string {
  if (!gateway.is_on) return "Off";
  if (gateway.is_draining) return `Stopping, ${pluralize(gateway.in_flight, "call")} under way`;
  const since = gateway.since === null ? "" : ` since ${formatTime(gateway.since, false)}`;
  return `On${since} · ${pluralize(gateway.in_flight, "call")} under way`;
}

function Off({ onTurnOn, isBusy }: { onTurnOn(): void; isBusy: boolean }) {
  return (
    <EmptyState
      icon="gateway"
      title="The gateway is off"
      action={
        <Button loading={isBusy} onClick={onTurnOn}>
          Turn on
        </Button>
      }
    >
      It offers all your servers as one MCP server, so that an agent needs one address, and you see
      its traffic here. Turning it on connects every server that is enabled.
    </EmptyState>
  );
}

function TurnOff({ gateway }: { gateway: GatewayView }) {
  const { isBusy, run } = useBusy();
  const turnOff = () =>
    run(() => withErrorToast("The gateway is still on", command("TurnGatewayOff", {})));
  return (
    <ButtonWithReason
      variant="default"
      loading={isBusy}
      disabledReason={
        gateway.is_permanent ? "It ends with `mcplens gateway`: press Ctrl-C there" : null
      }
      hint="Calls that are under way are finished first. The servers stay connected"
      onClick={turnOff}
    >
      Turn off
    </ButtonWithReason>
  );
}

function On({ gateway }: { gateway: GatewayView }) {
  return (
    <div className={css.sections}>
      {gateway.problem && (
        <ErrorNote
          error={gateway.problem}
          title="The configuration was changed and cannot be used; the previous one stays in use"
        />
      )}
      <Access gateway={gateway} />
      {gateway.waiting !== null && <Approval revision={`${gateway.revision} ${gateway.waiting}`} />}
      <Clients clients={gateway.clients} />
      {gateway.replicas && <Replicas status={gateway.replicas} />}
      <Servers servers={gateway.servers} />
      {gateway.has_user_sign_ins && (
        <SignIns revision={gateway.revision} canAsk={gateway.replicas?.store.status !== "down"} />
      )}
      <Views revision={gateway.revision} />
      <Limits limits={gateway.limits} isShared={gateway.replicas?.are_limits_shared ?? null} />
      <Audit calls={gateway.clients.reduce((sum, client) => sum + client.calls, 0)} />
    </div>
  );
}

export function Gateway() {
  const gateway = useInspector((state) => state.gateway);
  const { isBusy, run } = useBusy();
  if (!gateway) return null;
  const turnOn = () =>
    run(() => withErrorToast("The gateway was not turned on", command("TurnGatewayOn", {})));
  return (
    <div className="pane">
      <div className="toolbar">
        <h1 className="title">Gateway</h1>
        <span className="row" role="status">
          <StateDot state={gateway.is_on ? "CONNECTED" : "DISCONNECTED"} />
          <span className="dim">{stateWords(gateway)}</span>
        </span>
        {gateway.is_on && (
          <div className="actions">
            <TurnOff gateway={gateway} />
          </div>
        )}
      </div>
      {gateway.is_on ? (
        <div className="scroll">
          <On gateway={gateway} />
        </div>
      ) : (
        <Off onTurnOn={turnOn} isBusy={isBusy} />
      )}
    </div>
  );
}
