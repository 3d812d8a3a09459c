// What the traffic of a server adds up to: one line on its card, a section in Info, each with a plot.
import { Tooltip } from "@mantine/core";
import { Link } from "react-router";
import type { EndedRequestView, ServerView, StatisticsView } from "../../api/types";
import { pathTo } from "../../state/navigation";
import { formatBytes, formatDuration, formatTime, pluralize } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import css from "./ServerStatistics.module.css";

// As many as the backend sends; the plot fills from the left.
const SLOTS = 60;
// A quick request, and one that failed at once, are seen too.
const LEAST = 0.12;

/** Heights between 0 and 1, on a logarithmic scale: one slow request must not flatten the rest. */
export function heightsOf(recent: EndedRequestView[]): number[] {
  const logs = recent.map(({ elapsed_s }) => Math.log1p(elapsed_s * 1000));
  const most = Math.max(...logs, Number.EPSILON);
  return logs.map((log) => Math.max(LEAST, log / most));
}

function describe({ recent, median_s }: StatisticsView): string {
  const failed = recent.filter(({ is_failed }) => is_failed).length;
  const longest = Math.max(...recent.map(({ elapsed_s }) => elapsed_s));
  const median = median_s === null ? "" : `, median ${formatDuration(median_s)}`;
  return `Durations of the last ${pluralize(recent.length, "request")}${median}, longest ${formatDuration(longest)}, ${failed} failed`;
}

/** A bar for each of the newest requests: its height is the duration, a failed one is red. */
function Plot({ statistics, isLarge }: { statistics: StatisticsView; isLarge?: boolean }) {
  const { recent } = statistics;
  const heights = heightsOf(recent);
  return (
    <svg
      role="img"
      aria-label={describe(statistics)}
      className={isLarge ? css.large : css.small}
      viewBox={`0 0 ${SLOTS * 3} 20`}
      preserveAspectRatio="none"
    >
      {recent.map(({ is_failed }, index) => {
        const height = 20 * (heights[index] ?? LEAST);
        return (
          <rect
            key={index}
            x={index * 3}
            y={20 - height}
            width={2}
            height={height}
            className={is_failed ? css.failed : css.fine}
          />
        );
      })}
    </svg>
  );
}

/** A process is started again, a URL connected to again. */
const againOf = ({ url }: ServerView): string => (url === null ? "restart" : "reconnect");

const bytesOf = ({ sent_bytes, received_bytes }: StatisticsView): number =>
  sent_bytes + received_bytes;

const COUNTED =
  "Including mcplens's own lists and polling; without pings, handshakes and subscription streams";

/** The line of a card; nothing until there was a request. */
export function StatisticsLine({ server }: { server: ServerView }) {
  const { statistics } = server;
  const { requests, errors, median_s, p95_s, reconnects } = statistics;
  if (requests === 0) return null;
  return (
    <div className={css.line}>
      <Plot statistics={statistics} />
      <Tooltip label={`Since mcplens started. ${COUNTED}`} multiline w={320}>
        <span className={css.words}>
          {pluralize(requests, "request")} ·{" "}
          <span className={errors > 0 ? "bad" : undefined}>{pluralize(errors, "error")}</span> ·{" "}
          {formatBytes(bytesOf(statistics))}
          {median_s !== null && ` · median ${formatDuration(median_s)}`}
          {p95_s !== null && ` · p95 ${formatDuration(p95_s)}`}
          {reconnects > 0 && ` · ${pluralize(reconnects, againOf(server))}`}
        </span>
      </Tooltip>
    </div>
  );
}

function LastError({ server }: { server: ServerView }) {
  const last = server.statistics.last_error;
  if (!last) return null;
  const at = formatTime(last.at, false);
  return (
    <>
      <dt>Last error</dt>
      <dd>
        <span className="bad">{visible(last.message)}</span>{" "}
        <span className="dim">
          {visible(last.method)} at {at}
        </span>{" "}
        {last.request_seq !== null && (
          <Link to={pathTo(server.server_id, "traffic", last.request_seq)}>Show in Traffic</Link>
        )}
      </dd>
    </>
  );
}

/** The section of Info; nothing until there was a request. */
export function StatisticsSection({ server }: { server: ServerView }) {
  const { statistics } = server;
  const { requests, errors, median_s, p95_s, sent_bytes, received_bytes, reconnects } = statistics;
  if (requests === 0) return null;
  const facts: [string, string][] = [
    ["Requests", `${requests}, ${pluralize(errors, "error")}`],
    ["Median", median_s === null ? "" : formatDuration(median_s)],
    ["p95", p95_s === null ? "" : formatDuration(p95_s)],
    ["Sent", formatBytes(sent_bytes)],
    ["Received", formatBytes(received_bytes)],
    [server.url === null ? "Restarts" : "Reconnects", reconnects > 0 ? String(reconnects) : ""],
  ];
  return (
    <section className="stack tight" aria-label="Requests since mcplens started">
      <h2 className="section-title">Requests since mcplens started</h2>
      <p className="dim">{COUNTED}</p>
      <Plot statistics={statistics} isLarge />
      <dl className="facts">
        {facts.map(([name, value]) =>
          value ? (
            <div key={name} style={{ display: "contents" }}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ) : null,
        )}
        <LastError server={server} />
      </dl>
    </section>
  );
}
