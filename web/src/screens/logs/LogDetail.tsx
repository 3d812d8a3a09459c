// Details of a log line: its full content, and the request that it belongs to.
import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { Link } from "react-router";
import type { EventView } from "../../api/types";
import { copyText } from "../../components/clipboard";
import { Icon } from "../../components/Icon";
import { JsonTree } from "../../components/JsonTree";
import { TextView } from "../../components/TextView";
import { useEvent } from "../../events/useEvent";
import { useRing } from "../../state/events";
import { requestName, withLink } from "../../state/linkFilter";
import { pathTo } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { useWholeEvent } from "../../state/wholeEvent";
import { withoutAnsi } from "../../values/ansi";
import { formatTime } from "../../values/format";
import { pretty } from "../../values/json";
import css from "./LogRow.module.css";
import { fullContent, levelOf, lineOf, loggerOf, rowContent } from "./logLines";

/** The content of the line; fetched if the row has only the beginning. */
function useFullContent(event: EventView): unknown {
  const got = useWholeEvent(event.is_cut ? event : null);
  // Its beginning is shown until then, and ends with "…".
  return got && "whole" in got ? fullContent(got.whole) : rowContent(event);
}

/** The request that a line belongs to, as far as the recording says. */
function RequestLink({ event }: { event: EventView }) {
  const { run_id, request_seq, server_id, is_inferred } = event;
  const request = useEvent(useRing(), { run_id, seq: request_seq });
  const now = useInspector((state) => state.run_id);
  if (request_seq === null) return null;
  if (request.isMissing) return <span className="dim">Request not recorded</span>;
  const query = new URLSearchParams(run_id === now ? {} : { run: run_id });
  const link = { name: "request", value: String(request_seq) } as const;
  return (
    <>
      <Link to={`${pathTo(server_id, "traffic", request_seq)}?${query}`}>
        {request.event ? requestName(request.event) : "Request"}
      </Link>
      {is_inferred && <span className="dim">inferred: the only call running</span>}
      <Button
        component={Link}
        to={`${pathTo(server_id, "logs")}?${withLink(query, link)}`}
        variant="default"
        size="compact-xs"
      >
        Only this request
      </Button>
    </>
  );
}

export function LogDetail({ event, onClose }: { event: EventView; onClose(): void }) {
  const said = useFullContent(event);
  const level = levelOf(event);
  const isTree = typeof said === "object" && said !== null;
  const text = typeof said === "string" ? withoutAnsi(said) : pretty(said);
  return (
    <section className="pane" aria-label="Log line">
      <div className="toolbar">
        <span className={css.level} data-level={level}>
          {level}
        </span>
        <span className="dim">{formatTime(event.wall)}</span>
        <span className="dim">{event.server_id}</span>
        {loggerOf(event) && <span className="dim">logger {loggerOf(event)}</span>}
        <RequestLink event={event} />
        <span className="grow" />
        <Tooltip label="Copy the line">
          <ActionIcon aria-label="Copy the line" onClick={() => void copyText(lineOf(event, said))}>
            <Icon name="copy" />
          </ActionIcon>
        </Tooltip>
        <ActionIcon aria-label="Close the line" onClick={onClose}>
          <Icon name="close" />
        </ActionIcon>
      </div>
      <div className="scroll pad">
        {isTree ? (
          <JsonTree value={said} label="What the line says" />
        ) : (
          <TextView label="What the line says" text={text} />
        )}
      </div>
    </section>
  );
}
