// Dates and bytes inside of JSON, which has neither: guessed from how a value looks, and said beside
// it. The value itself is always shown as it came.
import { formatBytes } from "./format";

export interface RecognisedBytes {
  mime: string;
  ending: string;
}

export interface Recognised {
  note: string;
  bytes?: RecognisedBytes;
}

// Versions that are written as a date: their weekday means nothing.
const VERSION_NAME = /version/i;
// Revisions of MCP, also in a list of them.
const REVISIONS = new Set(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;
// Names of numbers that are times; other numbers in that range are just numbers.
const TIME_NAME =
  /(?:^|[_.-])(?:at|time|timestamp|ts|date|exp|iat|nbf|mtime|ctime|created|updated|modified|started|ended|expires|expiry)$|[a-z](?:At|Time|Timestamp|Date|On)$/;
// From 2001 to 2100, in seconds.
const EARLIEST = 978_307_200;
const LATEST = 4_102_444_800;

const written = (ms: number): string =>
  new Date(ms).toLocaleString("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });

function dateNote(text: string): string | null {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return null;
  // A date alone is that day everywhere.
  if (text.length === 10)
    return new Date(ms).toLocaleDateString("en-GB", { weekday: "long", timeZone: "UTC" });
  return written(ms);
}

function epochNote(name: string, value: number): string | null {
  if (!TIME_NAME.test(name)) return null;
  if (value >= EARLIEST && value < LATEST) return written(value * 1000);
  const isMs = value >= EARLIEST * 1000 && value < LATEST * 1000 && Number.isInteger(value);
  return isMs ? written(value) : null;
}

// How the base64 of known files begins.
const MAGIC: [start: string, mime: string, ending: string][] = [
  ["iVBORw0KGgo", "image/png", "png"],
  ["/9j/", "image/jpeg", "jpg"],
  ["R0lGOD", "image/gif", "gif"],
  ["UklGR", "audio/wav", "wav"],
  ["JVBERi0", "application/pdf", "pdf"],
  ["UEsDB", "application/zip", "zip"],
  ["H4sI", "application/gzip", "gz"],
  ["PHN2Zy", "image/svg+xml", "svg"],
];
const SHORTEST_KNOWN = 24;
const SHORTEST_UNKNOWN = 64;
// Enough of a long text to tell base64 from words.
const SAMPLE = 400;

function bytesIn(text: string): RecognisedBytes | null {
  if (text.length < SHORTEST_KNOWN || text.length % 4 !== 0) return null;
  const head = text.slice(0, SAMPLE);
  if (
    !/^[A-Za-z0-9+/]+={0,2}$/.test(head) ||
    !/^[A-Za-z0-9+/]{2}[A-Za-z0-9+/=]{2}$/.test(text.slice(-4))
  )
    return null;
  const known = MAGIC.find(([start]) => text.startsWith(start));
  if (known) return { mime: known[1], ending: known[2] };
  if (text.length < SHORTEST_UNKNOWN) return null;
  const isMixed = /[A-Z]/.test(head) && /[a-z]/.test(head) && /[0-9+/]/.test(head);
  // Hexadecimal digits and words in one case are not base64.
  return isMixed ? { mime: "application/octet-stream", ending: "bin" } : null;
}

/** What a value seems to be; null for what is just itself. */
export function recognise(name: string | null, value: unknown): Recognised | null {
  if (typeof value === "number") {
    const note = epochNote(name ?? "", value);
    return note === null ? null : { note };
  }
  if (typeof value !== "string") return null;
  if (value.length >= 10 && value.length <= 35 && DATE.test(value)) {
    if (REVISIONS.has(value) || (value.length === 10 && VERSION_NAME.test(name ?? ""))) return null;
    const note = dateNote(value);
    return note === null ? null : { note };
  }
  const bytes = bytesIn(value);
  if (!bytes) return null;
  const padding = value.endsWith("==") ? 2 : value.endsWith("=") ? 1 : 0;
  const size = formatBytes((value.length / 4) * 3 - padding);
  const kind = bytes.ending === "bin" ? "" : `, ${bytes.mime}`;
  return { note: `base64${kind}, ${size}`, bytes };
}
