// The tokens of a parsed text that get a colour.
import type { Parser, Tree } from "@lezer/common";
import { highlightTree, tagHighlighter, tags } from "@lezer/highlight";
import type { Kind, Token } from "../values/highlight";

const COLOURED: { tag: Parameters<typeof tagHighlighter>[0][number]["tag"]; class: Kind }[] = [
  { tag: [tags.comment, tags.processingInstruction], class: "comment" },
  { tag: [tags.propertyName, tags.attributeName], class: "key" },
  {
    tag: [tags.string, tags.special(tags.string), tags.regexp, tags.attributeValue],
    class: "string",
  },
  { tag: tags.number, class: "number" },
  {
    tag: [
      tags.keyword,
      tags.atom,
      tags.bool,
      tags.null,
      tags.tagName,
      tags.angleBracket,
      tags.character,
    ],
    class: "word",
  },
];
// In a program every other word is a property of something.
const ofData = tagHighlighter(COLOURED);
const ofPrograms = tagHighlighter(COLOURED.filter((one) => one.class !== "key"));

// A text that is far from its language takes a parser long; colours are not worth a pause.
const LONGEST_MS = 100;

/** The tree of a text; null if it takes too long. */
function parsed(text: string, parser: Parser): Tree | null {
  const end = performance.now() + LONGEST_MS;
  const parse = parser.startParse(text);
  for (let step = 0; ; step += 1) {
    const tree = parse.advance();
    if (tree) return tree;
    if (step % 32 === 0 && performance.now() > end) return null;
  }
}

/** The tokens of a text, in order: as far as it is valid, and none if that is too hard to tell. */
export function tokensOf(text: string, parser: Parser, isProgram = false): Token[] {
  const tokens: Token[] = [];
  try {
    const tree = parsed(text, parser);
    if (tree)
      highlightTree(tree, isProgram ? ofPrograms : ofData, (start, end, kind) =>
        tokens.push({ start, end, kind: kind as Kind }),
      );
  } catch {
    // Nested too deeply to be walked.
    return [];
  }
  return tokens;
}
