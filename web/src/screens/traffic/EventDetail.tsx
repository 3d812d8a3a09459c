// Details of an event: message as tree, text and bytes, HTTP exchange, diff and fields.
import { ActionIcon, Button, Tabs, Tooltip } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import { useLocation } from "react-router";
import { bytesPath } from "../../api/http";
import type { EventView } from "../../api/types";
import { Callout } from "../../components/Callout";
import { copyText } from "../../components/clipboard";
import { Icon } from "../../components/Icon";
import { JsonTree } from "../../components/JsonTree";
import { TextView } from "../../components/TextView";
import { FrameBytes, FrameText } from "../../events/FrameText";
import { HttpExchange } from "../../events/HttpExchange";
import { isHttp, isReply } from "../../state/eventLinks";
import { useRing } from "../../state/events";
import { maskedKeys, useWholeEvent } from "../../state/wholeEvent";
import { tryParseExactly } from "../../values/exactJson";
import { formatBytes, formatDuration, formatTime } from "../../values/format";
import { fieldsOf } from "../../values/jsonObject";
import { DiffView } from "./DiffView";
import { EditRequestButton } from "./EditRequestButton";
import css from "./EventDetail.module.css";
import { EventLinkButtons, EventLinkFacts } from "./EventLinkBar";
import { titleParts } from "./messagePreview";
import { PinButton } from "./PinButton";
import { ReplayButton } from "./ReplayButton";
import { SaveTestButton } from "./SaveTestButton";

type Loaded = ReturnType<typeof useWholeEvent>;

const isSentRequest = ({ kind, status }: EventView): boolean =>
  kind === "FrameSent" && status === "request";

interface Props {
  event: EventView;
  /** The message that it is compared with. */
  base?: EventView;
  onCompare(): void;
  /** Go to another event of the same rows. */
  onGo(seq: number): void;
  onClose(): void;
  /** Go to all rows, where this screen has room for the details alone. */
  onAll(): void;
}

function Heading({ event, onCompare, onGo, onClose, onAll }: Props) {
  const { links } = useRing();
  const elapsed_s = links.elapsedOf(event);
  // An answer is read to send its request again, otherwise.
  const asked = isReply(event) ? links.requestOf(event) : event;
  const request = asked && isSentRequest(asked) ? asked : null;
  const { name, outcome } = titleParts(event, asked);
  return (
    <div className={`toolbar ${css.heading}`}>
      <button type="button" className={`plain narrow-only ${css.back}`} onClick={onAll}>
        All of Traffic
      </button>
      <div className={`row ${css.first}`}>
        <strong className={css.title} title={[name, outcome].filter(Boolean).join(" · ")}>
          <span className="cut">{name}</span>
          {outcome && <span>· {outcome}</span>}
        </strong>
        <span className="grow" />
        <span className={css.icons}>
          {request && <SaveTestButton event={request} />}
          <Tooltip label="Compare with another message">
            <ActionIcon aria-label="Compare" onClick={onCompare}>
              <Icon name="compare" />
            </ActionIcon>
          </Tooltip>
          <PinButton key={event.seq} event={event} />
          <Tooltip label="Download the bytes">
            <ActionIcon
              component="a"
              href={bytesPath(event.run_id, event.seq)}
              download
              aria-label="Download the bytes"
            >
              <Icon name="download" />
            </ActionIcon>
          </Tooltip>
        </span>
        <ActionIcon aria-label="Close the details" onClick={onClose}>
          <Icon name="close" />
        </ActionIcon>
      </div>
      <EventLinkButtons event={event} onGo={onGo} />
      {request && (
        <>
          <ReplayButton event={request} />
          <EditRequestButton event={request} />
        </>
      )}
      <span className={`row dim ${css.measured}`}>
        <span>{formatTime(event.wall)}</span>
        {event.size_bytes > 0 && <span>{formatBytes(event.size_bytes)}</span>}
        {elapsed_s !== null && <span>{formatDuration(elapsed_s)}</span>}
      </span>
    </div>
  );
}

/** Notes about malformed, binary, masked or missing content. */
function Remarks({ event, loaded }: { event: EventView; loaded: Loaded }) {
  const whole = loaded && "whole" in loaded ? loaded.whole : null;
  const isBytes = event.size_bytes > 0 && whole !== null && whole.text === null;
  const masked = whole ? maskedKeys(whole.masked) : [];
  return (
    <>
      {(event.malformed || isBytes) && (
        <div className={css.note}>
          <Callout>
            {event.malformed && `Malformed: ${event.malformed}. `}
            {isBytes && "Some bytes are not text. Raw writes them as \\xE9; Hex shows every byte."}
          </Callout>
        </div>
      )}
      {masked.length > 0 && (
        <div className={css.note}>
          <Callout tone="info">
            mcplens masked the value of {masked.join(", ")}.
            {isSentRequest(event) &&
              " Sending it again uses the value from the server's secretKeys, unless you edit it."}
          </Callout>
        </div>
      )}
      {loaded && "problem" in loaded && (
        <div className={css.note}>
          <Callout>{`${loaded.problem} Only the beginning is shown.`}</Callout>
        </div>
      )}
    </>
  );
}

/** What the row is about: a message, the exchange that carries it, or bytes that are none. */
function firstTab(event: EventView): string {
  if (isHttp(event) && event.exchange_id !== null) return "http";
  if (event.size_bytes === 0) return "fields";
  return event.malformed ? "raw" : "message";
}

/**
 * The selected tab; another event starts with the one that a link names, that was last chosen for an
 * event of this sort, or that is its first.
 */
function useTab(event: EventView, base: EventView | undefined) {
  const { tab: named } = fieldsOf(useLocation().state);
  const [chosen, setChosen] = useState<Record<string, string>>({});
  const usual = firstTab(event);
  const kept = chosen[usual];
  const first =
    kept === undefined || (kept === "http" && event.exchange_id === null) ? usual : kept;
  const opened = base ? "diff" : typeof named === "string" ? named : first;
  const [tab, setTab] = useState<string | null>(opened);
  // biome-ignore lint/correctness/useExhaustiveDependencies: not when the same event is drawn anew
  useEffect(() => setTab(opened), [event.seq, base?.seq]);
  const choose = (next: string | null): void => {
    setTab(next);
    if (next !== null && next !== "diff") setChosen({ ...chosen, [usual]: next });
  };
  return { tab, choose };
}

export function EventDetail(props: Props) {
  const { event, base } = props;
  const loaded = useWholeEvent(event);
  const whole = loaded && "whole" in loaded ? loaded.whole : null;
  const text = whole?.text ?? null;
  const parsed = useMemo(() => (text ? tryParseExactly(text) : null), [text]);
  const isWire = event.size_bytes > 0;
  const { tab, choose } = useTab(event, base);
  return (
    <div className="pane">
      <Heading {...props} />
      <EventLinkFacts event={event} />
      <Remarks event={event} loaded={loaded} />
      <Tabs value={tab} onChange={choose} className={css.tabs} keepMounted={false}>
        <Tabs.List>
          {isWire && <Tabs.Tab value="message">Message</Tabs.Tab>}
          {isWire && <Tabs.Tab value="raw">Raw</Tabs.Tab>}
          {isWire && <Tabs.Tab value="hex">Hex</Tabs.Tab>}
          {base && <Tabs.Tab value="diff">Diff</Tabs.Tab>}
          {event.exchange_id !== null && <Tabs.Tab value="http">HTTP</Tabs.Tab>}
          <Tabs.Tab value="fields">Event</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="message" className={css.panel}>
          {parsed?.ok ? (
            <JsonTree value={parsed.value} label="Message" />
          ) : (
            <TextView text={text ?? event.head} label="Message" />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="raw" className={css.panel}>
          {whole ? (
            <FrameText whole={whole} label="Message as it was sent" />
          ) : (
            <TextView text={event.head} label="Message as it was sent" />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="hex" className={css.panel}>
          <FrameBytes run_id={event.run_id} seq={event.seq} />
        </Tabs.Panel>
        {base && (
          <Tabs.Panel value="diff" className={css.panel} tabIndex={0}>
            <DiffView base={base} event={event} />
          </Tabs.Panel>
        )}
        <Tabs.Panel value="http" className={css.panel}>
          <HttpExchange event={event} />
        </Tabs.Panel>
        <Tabs.Panel value="fields" className={css.panel}>
          <JsonTree value={whole?.event ?? event} label="Event" />
        </Tabs.Panel>
      </Tabs>
      <div className={css.foot}>
        <Button
          variant="default"
          size="compact-xs"
          disabled={!text}
          onClick={() => copyText(text ?? "")}
        >
          Copy the message
        </Button>
      </div>
    </div>
  );
}
