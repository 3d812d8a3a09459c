// Details of a log line: its full content, and the request that it belongs to.
import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { Link } from "react-router";
import type { EventView } from "../../api/types";
import { copyText } from "../../components/clipboard";
import { Icon } from "../../components/Icon";
import { JsonTree } from "../../components/JsonTree";
import { TextView } from "../../components/TextView";
import { useRing } from "../../state/events";
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

function RequestLink({ event }: { event: EventView }) {
  const owner = useRing().ownerOf(event);
  const now = useInspector((state) => state.run_id);
  if (!owner) return <span className="dim">Request unknown</span>;
  const query = new URLSearchParams({ id: String(owner.id) });
  if (event.run_id !== now) query.set("run", event.run_id);
  const search = `?${query}`;
  const known = owner.isTold
    ? "The line arrived on the stream of this request"
    : "Inferred: the only request that was open when the line arrived";
  return (
    <>
      <Tooltip label={known}>
        <Link to={pathTo(event.server_id, "traffic") + search}>id {String(owner.id)}</Link>
      </Tooltip>
      <Button
        component={Link}
        to={pathTo(event.server_id, "logs") + search}
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
        {loggerOf(event) && <span className="dim">{loggerOf(event)}</span>}
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
