// Formats numbers, times and errors for display.

export function formatBytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}

export function formatDuration(seconds: number): string {
  if (seconds < 0.001) return "<1 ms";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = Math.floor(seconds % 60);
  if (minutes < 60) return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const pad = (value: number, width = 2): string => String(value).padStart(width, "0");

/** Time of day with milliseconds, of wall clock seconds. */
export function formatTime(wall: number, millis = true): string {
  const date = new Date(wall * 1000);
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  return millis ? `${time}.${pad(date.getMilliseconds(), 3)}` : time;
}

export function formatDateTime(wall: number): string {
  const date = new Date(wall * 1000);
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${formatTime(wall, false)}`;
}

export const isToday = (wall: number, now = Date.now() / 1000): boolean =>
  new Date(wall * 1000).toDateString() === new Date(now * 1000).toDateString();

export const pluralize = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** How long a recorded run is; of a long one the messages among its events are not counted. */
export const formatRunSize = (run: {
  message_count: number | null;
  event_count: number;
}): string =>
  run.message_count === null
    ? pluralize(run.event_count, "event")
    : pluralize(run.message_count, "message");

export const truncate = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** The message of a thrown value. */
export const errorMessage = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

// The words that messages of mcplens begin with. Others may be the name of a server, a file, a
// method or a setting, which stays as it is.
const OPENING =
  /^(?:an?|another|apps|both|cannot|could|disconnected|give|it|its|more|no|nobody|nothing|not|only|others|redirected|rows|some|the|there|these|this|those|too|use) /;

/** A message of mcplens that stands alone in the page: with a capital at its beginning. */
export const asSentence = (message: string): string =>
  OPENING.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message;
