// Renders the common subset of Markdown, never HTML. Only http(s) links are clickable.
import { createElement, Fragment, memo, type ReactNode } from "react";
import { visible } from "../values/hiddenCharacters";
import { Callout } from "./Callout";
import css from "./Markdown.module.css";
import { TextView } from "./TextView";

// Longer texts are shown as plain text: laying them out would take too long.
const MOST = 200_000;
// The text is untrusted: these patterns must not backtrack much.
const LINK = /\[([^[\]]{1,500})\]\(([^)\s]{1,2000})\)/;
const INLINE = new RegExp(
  `(\`[^\`]+\`)|(\\*\\*[^*]+\\*\\*)|(__[^_]+__)|(\\*[^*\\s][^*]*\\*)|${LINK.source}`,
);

export const isWebLink = (url: string): boolean => /^https?:\/\//i.test(url);

function inline(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let rest = text;
  while (rest) {
    const found = INLINE.exec(rest);
    if (!found) {
      parts.push(visible(rest));
      break;
    }
    if (found.index) parts.push(visible(rest.slice(0, found.index)));
    parts.push(<Fragment key={parts.length}>{piece(found[0])}</Fragment>);
    rest = rest.slice(found.index + found[0].length);
  }
  return parts;
}

function piece(text: string): ReactNode {
  if (text.startsWith("`")) return <code>{visible(text.slice(1, -1))}</code>;
  if (text.startsWith("**") || text.startsWith("__"))
    return <strong>{inline(text.slice(2, -2))}</strong>;
  if (text.startsWith("*")) return <em>{inline(text.slice(1, -1))}</em>;
  const [, name = "", url = ""] = LINK.exec(text) ?? [];
  const label = visible(name);
  if (!isWebLink(url)) return <span title={visible(url)}>{label}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer noopener" title={visible(url)}>
      {label}
    </a>
  );
}

const cells = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());

function table(lines: string[], key: number): ReactNode {
  const [head = "", , ...body] = lines;
  return (
    <table key={key}>
      <thead>
        <tr>
          {cells(head).map((cell, index) => (
            <th key={index}>{inline(cell)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {body.map((line, row) => (
          <tr key={row}>
            {cells(line).map((cell, index) => (
              <td key={index}>{inline(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const BULLET = /^\s*([-*+]|\d+[.)])\s+/;

/** The items of a list, each with the lines that continue it. */
function itemsOf(lines: string[]): string[] {
  const items: string[][] = [];
  for (const line of lines) {
    if (BULLET.test(line)) items.push([line.replace(BULLET, "")]);
    else items.at(-1)?.push(line);
  }
  return items.map((item) => item.join("\n"));
}

function block(lines: string[], key: number): ReactNode {
  const [first = ""] = lines;
  const heading = /^(#{1,6})\s/.exec(first);
  // The page has headings of its own above these.
  if (heading)
    return createElement(
      `h${Math.min(6, (heading[1]?.length ?? 1) + 3)}`,
      { key },
      inline(first.slice(heading[0].length).trim()),
    );
  if (/^(-{3,}|\*{3,})$/.test(first)) return <hr key={key} />;
  if (lines.length > 1 && first.includes("|") && /^[\s|:-]+$/.test(lines[1] ?? ""))
    return table(lines, key);
  if (lines.every((line) => line.startsWith(">")))
    return (
      <blockquote key={key}>
        {inline(lines.map((line) => line.replace(/^>\s?/, "")).join(" "))}
      </blockquote>
    );
  if (BULLET.test(first))
    return createElement(
      /^\s*\d/.test(first) ? "ol" : "ul",
      { key },
      itemsOf(lines).map((item, index) => <li key={index}>{inline(item)}</li>),
    );
  return <p key={key}>{inline(lines.join("\n"))}</p>;
}

/** Splits a text into blocks; a fence is one block. */
export function blocksOf(text: string): { isCode: boolean; lines: string[] }[] {
  const blocks: { isCode: boolean; lines: string[] }[] = [];
  let current: string[] = [];
  let fence: string[] | null = null;
  const flush = (): void => {
    if (current.length) blocks.push({ isCode: false, lines: current });
    current = [];
  };
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(```|~~~)/.test(line)) {
      if (fence) {
        blocks.push({ isCode: true, lines: fence });
        fence = null;
      } else {
        flush();
        fence = [];
      }
    } else if (fence) fence.push(line);
    else if (!line.trim()) flush();
    else if (/^#{1,6}\s/.test(line)) {
      flush();
      blocks.push({ isCode: false, lines: [line] });
    } else current.push(line);
  }
  if (fence) blocks.push({ isCode: true, lines: fence });
  flush();
  return blocks;
}

const SIGNS = /(^#{1,6}[ \t]\S)|(^[ \t]*```)|(\*\*\S[^*]*\*\*)|(\[[^[\]]{1,500}\]\(https?:)/m;

/** Whether a text looks like Markdown. */
export function looksLikeMarkdown(text: string): boolean {
  if (text.length > MOST) return false;
  if (SIGNS.test(text)) return true;
  return (text.match(/^[ \t]*[-*][ \t]\S/gm)?.length ?? 0) > 1;
}

function Rendered({ text, label = "Text" }: { text: string; label?: string }) {
  if (text.length > MOST)
    return (
      <div className="stack tight">
        <Callout tone="info">
          This text is too long to be rendered: it has {text.length.toLocaleString("en")}{" "}
          characters. It is shown as plain text.
        </Callout>
        <TextView text={text} label={label} most={560} />
      </div>
    );
  return (
    <div className={css.markdown}>
      {blocksOf(text).map((one, index) =>
        one.isCode ? (
          <pre key={index} className="block">
            {visible(one.lines.join("\n"))}
          </pre>
        ) : (
          block(one.lines, index)
        ),
      )}
    </div>
  );
}

/** Parsed and rendered only when the text changes. */
export const Markdown = memo(Rendered);
