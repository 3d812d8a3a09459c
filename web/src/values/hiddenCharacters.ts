// Makes hidden characters visible. Invisible characters and direction overrides in a server's text
// can make one name look like another, or hide text.

// Scripts that spell with joiners: between their letters a joiner is part of a word.
const JOINING = "[\\p{scx=Arab}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}]";
// A picture, and what may stand between it and a joiner.
const PICTURE = "\\p{Extended_Pictographic}[\\uFE0F\\u{1F3FB}-\\u{1F3FF}]?";
const SELECTOR = "[\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}]";

const HIDDEN = new RegExp(
  [
    // Joiners, but for those that make one picture of two, and those of a script.
    `(?<!${PICTURE})(?<!${JOINING}(?=.${JOINING}))[\\u200C\\u200D]`,
    // A selector chooses a form of the character before it; one after another chooses nothing.
    `(?<=^|${SELECTOR})${SELECTOR}`,
    // Tags, but for the few that make a flag.
    "(?<!\\u{1F3F4}[\\u{E0030}-\\u{E007A}]{0,6})[\\u{E0000}-\\u{E007F}]",
    // Control characters, but for tabs and line breaks.
    "[\\u0000-\\u0008\\u000B\\u000C\\u000E-\\u001F\\u007F-\\u009F]",
    // Soft hyphen, grapheme joiner, fillers, vowel and letter marks, what is of no width, direction
    // marks, embeddings, overrides, isolates, separators, the byte order mark, annotations.
    "[\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u200B\\u200E\\u200F" +
      "\\u2028-\\u202E\\u2060-\\u206F\\u2800\\u3164\\uFEFF\\uFFA0\\uFFF9-\\uFFFB]",
  ].join("|"),
  "gu",
);

const told = (found: string): string =>
  `⟦U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟧`;

/** A name with hidden characters made visible; also one that is only whitespace. */
export const visibleName = (name: string): string =>
  name.trim() === "" ? name.replace(/./gsu, told) : visible(name);

/** A text with hidden characters replaced by their code points. */
export const visible = (text: string): string => text.replace(HIDDEN, told);
