// Names of saved files: server, content and time.
import { formatDateTime } from "./format";

// Two such parts and the time stay below the 255 bytes of a file name, in any script.
const MOST = 24;

/**
 * A part of a file name. Only letters, digits and underscores are kept: names of servers and tools
 * are arbitrary, and Windows reserves some names with dots.
 */
const part = (text: string): string =>
  Array.from(text.normalize("NFC").replace(/[^\p{L}\p{N}_]+/gu, "-"))
    .slice(0, MOST)
    .join("")
    .replace(/^-+|-+$/g, "");

/** Such as `demo-traffic-2026-11-16T10-58-17.jsonl`. */
export function fileName(
  about: (string | null)[],
  ending: string,
  wall: number = Date.now() / 1000,
): string {
  const parts = about.map((text) => part(text ?? "")).filter(Boolean);
  const time = formatDateTime(wall).replace(" ", "T").replaceAll(":", "-");
  return `${[...(parts.length ? parts : ["mcplens"]), time].join("-")}.${ending}`;
}
