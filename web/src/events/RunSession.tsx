// The session of a recorded run: who spoke with whom, whether it is live, what waits, what is wrong.
import { Badge, Button, Modal } from "@mantine/core";
import { useEffect, useState } from "react";
import { Link, useLocation } from "react-router";
import type { RunInfoView, SideView, WaitingRequestView } from "../api/types";
import { JsonTree } from "../components/JsonTree";
import { Markdown } from "../components/Markdown";
import { command } from "../state/commands";
import { useInspector } from "../state/store";
import { formatTime, pluralize } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import { NoticeLine } from "./MissingEvents";

const ERAS: Record<string, string> = {
  handshake: ", begun with initialize",
  stateless: ", without initialize",
};

const nameOf = (side: SideView | null, otherwise: string): string => {
  const words = [side?.info.title ?? side?.info.name, side?.info.version].filter(Boolean);
  return words.length ? visible(words.map(String).join(" ")) : otherwise;
};

/** What the backend pushes of a live run, else what it says when it is asked. */
function useRunInfo(runId: string): RunInfoView | null {
  const pushed = useInspector((state) => state.runs.get(runId));
  const [asked, setAsked] = useState<RunInfoView | null>(null);
  const isPushed = pushed !== undefined;
  useEffect(() => {
    if (isPushed) return;
    let isGone = false;
    command("RunInfo", { run_id: runId }).then(
      (info) => !isGone && setAsked(info),
      () => !isGone && setAsked(null), // the rows say why the run cannot be read
    );
    return () => {
      isGone = true;
    };
  }, [runId, isPushed]);
  return pushed ?? (asked?.run.run_id === runId ? asked : null);
}

function Side({ title, side, unknown }: { title: string; side: SideView | null; unknown: string }) {
  return (
    <section className="stack tight">
      <h3 className="section-title">{title}</h3>
      {side ? (
        <>
          <span>{nameOf(side, "It did not give its name.")}</span>
          {side.instructions && <Markdown text={side.instructions} label="Instructions" />}
          <span className="dim">Capabilities</span>
          <JsonTree value={side.capabilities} label={`${title} capabilities`} most={240} />
        </>
      ) : (
        <span className="dim">{unknown}</span>
      )}
    </section>
  );
}

function Waiting({ one, onGo }: { one: WaitingRequestView; onGo(): void }) {
  const { pathname, search } = useLocation();
  const place = `${pathname.replace(/\/traffic(\/.*)?$/, "/traffic")}/${one.seq}${search}`;
  return (
    <li>
      <Link to={place} onClick={onGo}>
        {visible(one.method)}
      </Link>{" "}
      {one.request_id !== null && <span className="mono">{visible(String(one.request_id))}</span>}{" "}
      <span className="dim">
        {one.is_question ? "asked by the server" : "sent by the client"} at {formatTime(one.wall)}
      </span>
    </li>
  );
}

function Details({ info, onClose }: { info: RunInfoView; onClose(): void }) {
  const word = info.run.is_live ? "still without an answer" : "without an answer";
  return (
    <Modal opened size="lg" title="Session details" onClose={onClose}>
      <div className="stack">
        <span>
          Revision {info.protocol_version ?? "not negotiated"}
          {info.era && ERAS[info.era]} · {pluralize(info.message_count, "message")} ·{" "}
          {pluralize(info.problem_count, "protocol problem")} · recorded by mcplens{" "}
          {info.run.version}
          {info.run.title && ` (${visible(info.run.title)})`}
        </span>
        <Side title="Client" side={info.client} unknown="mcplens" />
        <Side
          title="Server"
          side={info.server}
          unknown="Not connected, or its answer was not recorded."
        />
        <section className="stack tight">
          <h3 className="section-title">Requests {word}</h3>
          {info.waiting.length === 0 && <span className="dim">None.</span>}
          <ul style={{ margin: 0 }}>
            {info.waiting.map((one) => (
              <Waiting key={one.seq} one={one} onGo={onClose} />
            ))}
          </ul>
        </section>
      </div>
    </Modal>
  );
}

/** One line about the run that is shown, with its details on demand. */
export function RunSession({ runId, onProblems }: { runId: string; onProblems(): void }) {
  const info = useRunInfo(runId);
  const [isOpen, setOpen] = useState(false);
  if (!info) return null;
  // The side and the revision are those of one server.
  const isOfOne = info.run.servers.length <= 1;
  const requests = info.waiting.filter((one) => !one.is_question).length;
  const questions = info.waiting.length - requests;
  const called = visible(info.run.called.join(", "));
  return (
    <div className="toolbar">
      {info.run.is_live ? (
        <Badge color="green">Live</Badge>
      ) : (
        <Badge color="gray">{info.run.ended === null ? "Ended unexpectedly" : "Ended"}</Badge>
      )}
      <span className="cut" role="status">
        {nameOf(info.client, "mcplens")} →{" "}
        {info.run.servers.join(", ") || nameOf(info.server, "no server")}
        {isOfOne && info.protocol_version && ` · MCP ${info.protocol_version}`} ·{" "}
        {pluralize(info.message_count, "message")}
        {called && ` · ${called}`}
      </span>
      {requests > 0 && <Badge color="yellow">{requests} without an answer</Badge>}
      {questions > 0 && (
        <Badge color="yellow">{pluralize(questions, "question waits", "questions wait")}</Badge>
      )}
      {info.problem_count > 0 && (
        <Button
          variant="light"
          color="red"
          size="compact-xs"
          title="Messages that are malformed, or answer no request. Click to show them"
          onClick={onProblems}
        >
          {pluralize(info.problem_count, "protocol problem")}
        </Button>
      )}
      <Button variant="default" size="compact-xs" onClick={() => setOpen(true)}>
        Session details
      </Button>
      {isOpen && <Details info={info} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** Offers to follow what other processes record now; at most a few, the chooser has all. */
export function LiveRunNotices({ onFollow }: { onFollow(runId: string): void }) {
  const runs = useInspector((state) => state.runs);
  const live = [...runs.values()].filter(({ run }) => run.is_live).slice(-3);
  return live.map((info) => (
    <NoticeLine key={info.run.run_id} button="Follow it" onClick={() => onFollow(info.run.run_id)}>
      {nameOf(info.client, "Another mcplens")} is connected to {info.run.servers.join(", ")} (
      {pluralize(info.message_count, "message")}), recorded by another process.
    </NoticeLine>
  ));
}
