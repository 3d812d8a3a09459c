// Names as they are, whatever a server put into them: characters that nobody sees, or that turn the
// order of others round, can make one name look like another.

// Soft hyphen, Arabic letter mark, zero width and direction marks, embeddings, overrides, isolates,
// joiners, the byte order mark. A joiner inside an emoji makes one picture of two, so it stays.
const HIDDEN =
  /(?<!\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}]?)\u200D|[\u00AD\u061C\u200B\u200C\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/gu;

const told = (found: string): string =>
  `⟦U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟧`;

/** A name in which what cannot be seen is told by its number. */
export const visible = (name: string): string => name.replace(HIDDEN, told);
