// The columns of Traffic, one descriptor each: what it is called, how it is sorted, what a cell
// says. A new column is one more entry here.
import type { ReactNode } from "react";
import type { EventView } from "../../api/types";
import { UntrustedText } from "../../components/UntrustedText";
import { formatBytes, formatDuration, formatTime } from "../../values/format";
import { BarCell, type DrawnRow, HttpMethodCell, NameCell, PreviewCell, StatusCell } from "./cells";
import type { ColumnShape } from "./columnLayout";
import { purposeLabel } from "./filterOptions";
import { eventTitle, previewOf } from "./messagePreview";
import {
  type Arrangement,
  calledOf,
  elapsedOf,
  messageOf,
  nameOf,
  type RowContext,
  serverOf,
  sizeOf,
  statusOf,
} from "./rowFacts";

export interface TrafficColumn extends ColumnShape {
  label: string;
  /** Longer words, where the label is short. */
  title?: string;
  align?: "end";
  /** By what rows are sorted; text and numbers do not mix in one column. */
  sortBy(event: EventView, context: RowContext): string | number | null;
  cell(row: DrawnRow): ReactNode;
}

const urlOf = ({ detail }: EventView): string => String(detail.url ?? "");

/** In the HTTP view the paths tell exchanges apart, the origin is the same in all. */
const pathOf = (event: EventView): string => urlOf(event).replace(/^\w+:\/\//, "");

const TIME: TrafficColumn = {
  id: "time",
  label: "Time",
  title: "Time of day; of what a request caused, the time since then",
  width: 98,
  min: 48,
  weight: 3,
  isDefault: true,
  sortBy: ({ seq }) => seq,
  cell: ({ event, since }) => (since === null ? formatTime(event.wall) : since),
};
const SERVER: TrafficColumn = {
  id: "server",
  label: "Server",
  width: 110,
  min: 48,
  weight: 4,
  isDefault: true,
  sortBy: (event, context) => serverOf(event, context),
  cell: ({ server }) => server,
};
const CLIENT: TrafficColumn = {
  id: "client",
  label: "Client",
  title: "Client of the gateway",
  width: 110,
  min: 48,
  weight: 5,
  isDefault: true,
  sortBy: (event, { ring }) => ring.links.clientOf(event),
  cell: ({ client }) => client && <UntrustedText>{client}</UntrustedText>,
};
const ID: TrafficColumn = {
  id: "id",
  label: "Id",
  title: "JSON-RPC id of the request and its answer",
  width: 48,
  min: 32,
  weight: 5,
  align: "end",
  isDefault: true,
  sortBy: ({ request_id }) => (typeof request_id === "number" ? request_id : null),
  cell: ({ event }) => event.request_id ?? "",
};
const SEQ: TrafficColumn = {
  id: "seq",
  label: "Event",
  title: "Number of the event in its session",
  width: 64,
  min: 40,
  weight: 1,
  align: "end",
  isDefault: false,
  sortBy: ({ seq }) => seq,
  cell: ({ event }) => event.seq,
};
const NAME: TrafficColumn = {
  id: "name",
  label: "Name",
  title: "Method, and what it is called on",
  width: 280,
  min: 180,
  grows: 3,
  weight: 100,
  isDefault: true,
  sortBy: (event, context) => `${nameOf(event, context)} ${calledOf(event, context) ?? ""}`,
  cell: (row) => <NameCell row={row} />,
};
const STATUS: TrafficColumn = {
  id: "status",
  label: "Status",
  width: 92,
  min: 32,
  weight: 90,
  isDefault: true,
  sortBy: (event, context) => statusOf(event, context).text,
  cell: (row) => <StatusCell status={row.status} />,
};
const SIZE: TrafficColumn = {
  id: "size",
  label: "Size",
  title: "Size of the answer; before that, of the request",
  width: 72,
  min: 40,
  weight: 6,
  align: "end",
  isDefault: true,
  sortBy: (event, context) => sizeOf(event, context),
  cell: ({ size_bytes }) => (size_bytes > 0 ? formatBytes(size_bytes) : ""),
};
const DURATION: TrafficColumn = {
  id: "duration",
  label: "Duration",
  width: 78,
  min: 44,
  weight: 80,
  align: "end",
  isDefault: true,
  sortBy: (event, context) => elapsedOf(event, context),
  cell: ({ elapsed_s, isPending }) =>
    elapsed_s === null ? (isPending ? "…" : "") : formatDuration(elapsed_s),
};
const WATERFALL: TrafficColumn = {
  id: "waterfall",
  label: "Waterfall",
  title: "When it ran, beside the other rows in view; hatched where idle time is shortened",
  width: 180,
  min: 90,
  grows: 2,
  weight: 2,
  isDefault: true,
  sortBy: ({ mono }) => mono,
  cell: ({ bar, status, direction }) => <BarCell bar={bar} tone={status.tone ?? direction} />,
};
const PREVIEW: TrafficColumn = {
  id: "preview",
  label: "Preview",
  title: "Arguments and text, without what every message has",
  width: 300,
  min: 120,
  grows: 4,
  weight: 1,
  isDefault: true,
  sortBy: (event) => previewOf(event),
  cell: (row) => <PreviewCell row={row} />,
};
const PURPOSE: TrafficColumn = {
  id: "purpose",
  label: "Purpose",
  title: "What the request was made for",
  width: 90,
  min: 48,
  weight: 1,
  isDefault: false,
  sortBy: (event, { ring }) => ring.links.purposeOf(event) ?? "",
  cell: ({ event, context }) => purposeLabel(context.ring.links.purposeOf(event) ?? ""),
};
const HTTP_METHOD: TrafficColumn = {
  id: "http-method",
  label: "Method",
  title: "HTTP method",
  width: 92,
  min: 64,
  weight: 95,
  isDefault: true,
  sortBy: ({ method }) => method ?? "",
  cell: (row) => <HttpMethodCell row={row} />,
};
const URL_COLUMN: TrafficColumn = {
  id: "url",
  label: "URL",
  width: 240,
  min: 120,
  grows: 3,
  weight: 70,
  isDefault: true,
  sortBy: (event) => urlOf(event),
  cell: ({ event, preview }) =>
    event.kind === "HttpRequestSent" ? <span title={urlOf(event)}>{pathOf(event)}</span> : preview,
};
const MCP_METHOD: TrafficColumn = {
  id: "mcp",
  label: "MCP method",
  title: "The message that the exchange was made for",
  width: 220,
  min: 90,
  grows: 2,
  weight: 75,
  isDefault: true,
  sortBy: (event, context) => {
    const message = messageOf(event, context);
    return message ? eventTitle(message) : "";
  },
  cell: ({ event, context }) => {
    const message = messageOf(event, context);
    return message ? eventTitle(message) : "";
  },
};

const MESSAGES = [
  TIME,
  CLIENT,
  SERVER,
  ID,
  NAME,
  STATUS,
  SIZE,
  DURATION,
  WATERFALL,
  PREVIEW,
  PURPOSE,
  SEQ,
];

/** Bars belong to pairs. */
const ONE_BY_ONE = MESSAGES.map((column) =>
  column === WATERFALL ? { ...column, isDefault: false } : column,
);

const COLUMNS: Record<Arrangement, TrafficColumn[]> = {
  paired: MESSAGES,
  wire: ONE_BY_ONE,
  http: [
    TIME,
    CLIENT,
    SERVER,
    HTTP_METHOD,
    URL_COLUMN,
    { ...STATUS, width: 104 },
    MCP_METHOD,
    SIZE,
    DURATION,
    WATERFALL,
    { ...PREVIEW, isDefault: false },
    PURPOSE,
    SEQ,
  ],
};

/**
 * The columns of a table; that of the server only where there may be several, that of the client
 * only where a gateway has any.
 */
export const columnsFor = (
  arrangement: Arrangement,
  withServer: boolean,
  withClient: boolean,
): TrafficColumn[] =>
  COLUMNS[arrangement].filter(
    (column) => (withServer || column !== SERVER) && (withClient || column !== CLIENT),
  );
