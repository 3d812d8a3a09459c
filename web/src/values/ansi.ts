// ANSI escape sequences, such as colors, that programs write to stderr.

const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);
// Control sequences; titles and links, up to their end; the short ones; and, of a text that was
// cut, the beginning of one.
const SEQUENCE = new RegExp(
  [
    `${ESC}\\[[0-?]*[ -/]*(?:[@-~]|(?=…?$))`,
    `${ESC}[\\]PX^_][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\|$)`,
    `${ESC}[ -/]*[0-OQ-WYZ\\\\\`-~]`,
  ].join("|"),
  "g",
);

/** A text without them, as it is shown. */
export const withoutAnsi = (text: string): string =>
  text.includes(ESC) ? text.replace(SEQUENCE, "") : text;
