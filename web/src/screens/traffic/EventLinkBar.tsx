// What an event belongs to: buttons that lead to its request, cause and answer, and its call, HTTP
// exchange and purpose.
import { Button, SegmentedControl } from "@mantine/core";
import { Link, useSearchParams } from "react-router";
import type { EventView } from "../../api/types";
import { useEvent } from "../../events/useEvent";
import { isReply } from "../../state/eventLinks";
import { useRing } from "../../state/events";
import { type LinkFilter, linkWords, withLink } from "../../state/linkFilter";
import { pathToCall } from "../../state/navigation";
import { useInspector } from "../../state/store";
import css from "./EventDetail.module.css";
import { purposeLabel } from "./filterOptions";

interface GoProps {
  event: EventView;
  seq: number;
  /** What the link leads to: "request". */
  name: string;
  onGo(seq: number): void;
}

function GoButton({ event, seq, name, onGo }: GoProps) {
  const target = useEvent(useRing(), { run_id: event.run_id, seq });
  if (target.isMissing) return <NotRecorded name={name} />;
  return (
    <Button
      variant="default"
      size="compact-xs"
      disabled={!target.event}
      title={target.problem}
      onClick={() => onGo(seq)}
    >
      Go to the {name}
    </Button>
  );
}

function NotRecorded({ name }: { name: string }) {
  return (
    <span className="dim">
      {name[0]?.toUpperCase()}
      {name.slice(1)} not recorded
    </span>
  );
}

/** A request and its answer, of which one is shown. */
function PairSwitch({ event, onGo }: LinkProps) {
  const { links } = useRing();
  const request = isReply(event) ? links.requestOf(event) : event;
  const answer = isReply(event) ? event : links.answerOf(event);
  if (!request || !answer) return null;
  return (
    <SegmentedControl
      size="xs"
      aria-label="Request or answer"
      data={[
        { value: String(request.seq), label: "Request" },
        { value: String(answer.seq), label: "Answer" },
      ]}
      value={String(event.seq)}
      onChange={(seq) => onGo(Number(seq))}
    />
  );
}

interface LinkProps {
  event: EventView;
  onGo(seq: number): void;
}

/** Buttons that lead to the request, cause and answer of an event. */
export function EventLinkButtons({ event, onGo }: LinkProps) {
  const { request_seq, caused_by_seq, detail } = event;
  const { links } = useRing();
  const answer = links.answerOf(event);
  const isPair = isReply(event) ? links.requestOf(event) !== undefined : answer !== undefined;
  const hop = links.hopOf(event);
  // A call of several rounds is one row, with the answer to the last of them.
  const first = isReply(event) ? links.requestOf(event) : event;
  const last = first && links.lastRoundOf(first);
  const lastAnswer = last && last !== first ? links.answerOf(last) : undefined;
  const go = { event, onGo };
  return (
    <>
      {isPair && <PairSwitch {...go} />}
      {lastAnswer && <GoButton {...go} seq={lastAnswer.seq} name="last answer" />}
      {request_seq !== null && !(isPair && isReply(event)) && (
        <GoButton {...go} seq={request_seq} name="request" />
      )}
      {request_seq === null && isReply(event) && <NotRecorded name="request" />}
      {caused_by_seq !== null && <GoButton {...go} seq={caused_by_seq} name="cause" />}
      {typeof detail.inbound_seq === "number" && (
        <GoButton {...go} seq={detail.inbound_seq} name="client's request" />
      )}
      {hop && <GoButton {...go} seq={hop.seq} name="request to the server" />}
      {typeof detail.opened_seq === "number" && (
        <GoButton {...go} seq={detail.opened_seq} name="question" />
      )}
    </>
  );
}

/** Shows only the events of the same call or exchange, unless that is done already. */
function OnlyLink({ link, words }: { link: LinkFilter; words: string }) {
  const [query] = useSearchParams();
  if (query.get(link.name) === link.value) return null;
  return (
    <Link to={{ search: `?${withLink(query, link)}` }} replace>
      {words}
    </Link>
  );
}

/** The call, purpose and HTTP exchange of an event, if it has any. */
export function EventLinkFacts({ event }: { event: EventView }) {
  const ring = useRing();
  const { links } = ring;
  const { exchange_id, is_inferred } = event;
  const callId = links.callIdOf(event);
  const purpose = links.purposeOf(event);
  const call = useInspector((state) =>
    state.run_id === event.run_id ? state.calls.get(callId ?? "") : undefined,
  );
  if (callId === null && purpose === null && exchange_id === null) return null;
  const ofCall: LinkFilter | null = callId === null ? null : { name: "call", value: callId };
  const ofExchange: LinkFilter | null =
    exchange_id === null ? null : { name: "exchange", value: String(exchange_id) };
  return (
    <div className={`row wrap dim ${css.links}`}>
      {ofCall && (
        <>
          {links.requestsOfCall(ofCall.value).length > 0 && (
            <span>Part of {linkWords(ring, ofCall)}</span>
          )}
          <OnlyLink link={ofCall} words="Only this call" />
          {call && <Link to={pathToCall(call)}>Open the call</Link>}
        </>
      )}
      {purpose !== null && purpose !== "call" && <span>Purpose: {purposeLabel(purpose)}</span>}
      {ofExchange && (
        <>
          <span>{linkWords(ring, ofExchange)}</span>
          <OnlyLink link={ofExchange} words="Only this exchange" />
        </>
      )}
      {is_inferred && <span>Inferred: the only call running</span>}
    </div>
  );
}
