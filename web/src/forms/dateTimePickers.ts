// Converts between the browser's date and time pickers (local, no zone) and RFC 3339.

const two = (value: number): string => String(value).padStart(2, "0");

/** The local offset from UTC at a moment, as RFC 3339 writes it. */
function offsetAt(moment: Date): string {
  const minutes = -moment.getTimezoneOffset();
  if (minutes === 0) return "Z";
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(Math.floor(size % 60))}`;
}

const withSeconds = (time: string): string => (time.length === 5 ? `${time}:00` : time);

export interface Picker {
  type: "date" | "time" | "datetime-local";
  /** Placeholder of the text field for values that the picker cannot show. */
  example: string;
  /** What the picker shows for a value; null if it cannot. */
  shown(value: string): string | null;
  /** The value for what was picked. */
  picked(shown: string): string;
}

const date: Picker = {
  type: "date",
  example: "2026-01-31",
  shown: (value) => (/^\d{4}-\d\d-\d\d$/.test(value) ? value : null),
  picked: (shown) => shown,
};

const time: Picker = {
  type: "time",
  example: "13:45:00Z",
  shown: (value) => {
    const [, clock, offset] = /^(\d\d:\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/.exec(value) ?? [];
    return clock !== undefined && offset === offsetAt(new Date()) ? clock : null;
  },
  picked: (shown) => withSeconds(shown) + offsetAt(new Date()),
};

const dateTime: Picker = {
  type: "datetime-local",
  example: "2026-01-31T13:45:00Z",
  shown: (value) => {
    const [, local, offset] =
      /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/.exec(value) ?? [];
    return local !== undefined && offset === offsetAt(new Date(local)) ? local : null;
  },
  picked: (shown) => {
    const [day = "", clock = ""] = shown.split("T");
    const local = `${day}T${withSeconds(clock)}`;
    return local + offsetAt(new Date(local));
  },
};

export const PICKERS = { date, time, "date-time": dateTime };
