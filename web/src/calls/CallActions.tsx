// Actions on a call and its result: copy in several formats, download, save to a collection.
import { ActionIcon, Button, Menu, Tooltip } from "@mantine/core";
import { useState, useSyncExternalStore } from "react";
import { Link } from "react-router";
import type { CallView } from "../api/types";
import { ButtonWithReason } from "../components/ButtonWithReason";
import { copyText } from "../components/clipboard";
import { downloadFile } from "../components/download";
import { Icon, type IconName } from "../components/Icon";
import { promptText } from "../content/promptText";
import { ring } from "../state/events";
import { pathToCallTraffic } from "../state/navigation";
import { useInspector } from "../state/store";
import { indentJson } from "../values/exactJson";
import { fileName } from "../values/fileName";
import { pretty } from "../values/json";
import css from "./CallPanel.module.css";
import { isRunning } from "./callStatus";
import { asCommand, asCurl, asJsonRpc, asPython, canCurl, isSafeCommand } from "./copyAs";
import { SaveCallButton } from "./SaveCallButton";
import { TaskLink } from "./TaskLink";
import { useCallRequest } from "./useCallRequest";
import { useCallResult } from "./useCallResult";

function CopyAs({ call }: { call: CallView }) {
  const server = useInspector((state) => state.servers.get(call.server_id));
  // Fetched when the menu opens, since browsers allow copying only right after a click.
  const [isOpen, setOpen] = useState(false);
  const { value, problem } = useCallRequest(call, isOpen);
  const isReady = value !== undefined;
  const isPlain = isSafeCommand(call, server);
  // The command line would take such a name for an option.
  const isOption = call.server_id.startsWith("-");
  // Not disabled while it is fetched: a menu without an item to focus cannot be closed by a key.
  const copying = (write: typeof asPython) => ({
    "aria-disabled": !isReady || undefined,
    closeMenuOnClick: isReady,
    onClick: () => void (isReady && copyText(write(call, value, server))),
  });
  return (
    <Menu position="bottom-end" opened={isOpen} onChange={setOpen}>
      <Menu.Target>
        <Button size="compact-xs" variant="default" rightSection={<Icon name="down" size={12} />}>
          Copy as
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {problem && <Menu.Label>{problem}</Menu.Label>}
        {!isPlain && (
          <Menu.Label>No command: a header has a name that is not safe in a shell</Menu.Label>
        )}
        {isOption && <Menu.Label>No command: the server's name looks like an option</Menu.Label>}
        {isPlain && !canCurl(server) && (
          <Menu.Label>No curl: the server is not reached by Streamable HTTP</Menu.Label>
        )}
        <Menu.Item disabled={!isPlain || isOption} {...copying(asCommand)}>
          mcplens command
        </Menu.Item>
        <Menu.Item {...copying(asPython)}>Python</Menu.Item>
        <Menu.Item disabled={!isPlain || !canCurl(server)} {...copying(asCurl)}>
          curl
        </Menu.Item>
        <Menu.Item {...copying(asJsonRpc)}>JSON-RPC request</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** The message of a call to show first: its last request, or the answer if it failed. */
export function useShownMessage(call: CallView | undefined): number | undefined {
  const asked = call?.request_seqs.at(-1);
  const isFailed = call !== undefined && (call.error !== null || call.is_error);
  return useSyncExternalStore(ring.subscribe, () => {
    const request = isFailed && asked !== undefined ? ring.find(asked) : undefined;
    return (request && ring.links.answerOf(request)?.seq) ?? asked;
  });
}

/** Leads to the messages of a call. */
function MessagesLink({ call }: { call: CallView }) {
  const seq = useShownMessage(call);
  return (
    <Tooltip label="Messages of this call in Traffic">
      <Link className={css.link} to={pathToCallTraffic(call, seq)}>
        <Icon name="traffic" size={12} /> id {String(call.request_id)}
      </Link>
    </Tooltip>
  );
}

interface ResultButtonProps {
  icon: IconName;
  label: string;
  disabledReason: string | null;
  onClick(): void;
}

function ResultButton({ icon, label, disabledReason, onClick }: ResultButtonProps) {
  return (
    <Tooltip label={disabledReason ?? label}>
      <ActionIcon
        aria-label={label}
        aria-disabled={disabledReason !== null}
        data-disabled={disabledReason !== null || undefined}
        onClick={() => disabledReason === null && onClick()}
      >
        <Icon name={icon} />
      </ActionIcon>
    </Tooltip>
  );
}

export function CallActions({ call }: { call: CallView }) {
  const { value, text, isLoading } = useCallResult(call);
  const json = (): string => (text === null ? pretty(value) : indentJson(text));
  const what = call.status === "error" ? "error" : "result";
  const missing = isLoading
    ? `The ${what} is loading`
    : `There is no ${what}${isRunning(call) ? " yet" : ""}`;
  const reason = value === undefined ? missing : null;
  const name = (): string => fileName([call.server_id, call.name || call.method || "raw"], "json");
  return (
    <>
      {call.kind === "prompt" && (
        <ButtonWithReason
          size="compact-xs"
          variant="default"
          disabledReason={reason}
          onClick={() => void copyText(promptText(value))}
        >
          Copy text
        </ButtonWithReason>
      )}
      <ResultButton
        icon="copy"
        label={`Copy the ${what}`}
        disabledReason={reason}
        onClick={() => void copyText(json())}
      />
      <ResultButton
        icon="download"
        label={`Download the ${what}`}
        disabledReason={reason}
        onClick={() => downloadFile(json(), name(), "application/json")}
      />
      {call.kind !== "raw" && !isRunning(call) && <SaveCallButton call={call} />}
      {call.request_id !== null && <MessagesLink call={call} />}
      <TaskLink call={call} />
      <CopyAs call={call} />
    </>
  );
}
