// Markdown as elements: what servers commonly write, and never HTML. Links open only http(s).
import { createElement, Fragment, type ReactNode } from "react";
import css from "./Markdown.module.css";

const INLINE = /(`[^`]+`)|(\*\*[^*]+\*\*)|(__[^_]+__)|(\*[^*\s][^*]*\*)|(\[[^\]]+\]\([^)\s]+\))/;

export const isWebLink = (url: string): boolean => /^https?:\/\//i.test(url);

function inline(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let rest = text;
  while (rest) {
    const found = INLINE.exec(rest);
    if (!found) {
      parts.push(rest);
      break;
    }
    if (found.index) parts.push(rest.slice(0, found.index));
    parts.push(<Fragment key={parts.length}>{piece(found[0])}</Fragment>);
    rest = rest.slice(found.index + found[0].length);
  }
  return parts;
}

function piece(text: string): ReactNode {
  if (text.startsWith("`")) return <code>{text.slice(1, -1)}</code>;
  if (text.startsWith("**") || text.startsWith("__"))
    return <strong>{inline(text.slice(2, -2))}</strong>;
  if (text.startsWith("*")) return <em>{inline(text.slice(1, -1))}</em>;
  const [, label = "", url = ""] = /^\[([^\]]+)\]\(([^)\s]+)\)$/.exec(text) ?? [];
  if (!isWebLink(url)) return <span title={url}>{label}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer noopener" title={url}>
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

function block(lines: string[], key: number): ReactNode {
  const [first = ""] = lines;
  const heading = /^(#{1,6})\s+(.*)$/.exec(first);
  // The page has its own headings above; these come below them.
  if (heading)
    return createElement(
      `h${Math.min(6, (heading[1]?.length ?? 1) + 3)}`,
      { key },
      inline(heading[2] ?? ""),
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
  const bullet = /^\s*([-*+]|\d+[.)])\s+/;
  if (bullet.test(first)) {
    const items = lines.join("\n").split(/\n(?=\s*(?:[-*+]|\d+[.)])\s+)/);
    const tag = /^\s*\d/.test(first) ? "ol" : "ul";
    return createElement(
      tag,
      { key },
      items.map((item, index) => <li key={index}>{inline(item.replace(bullet, ""))}</li>),
    );
  }
  return <p key={key}>{inline(lines.join("\n"))}</p>;
}

/** Blocks of lines; a fence keeps what is inside it together. */
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

/** Whether a text looks as if it were meant as Markdown. */
export const looksLikeMarkdown = (text: string): boolean =>
  text.length < 200_000 &&
  /(^#{1,6}\s\S)|(^\s*```)|(\*\*\S[^*]*\*\*)|(\[[^\]]+\]\(https?:)|(^\s*[-*]\s\S[\s\S]*^\s*[-*]\s\S)/m.test(
    text,
  );

export function Markdown({ text }: { text: string }) {
  return (
    <div className={css.markdown}>
      {blocksOf(text).map((one, index) =>
        one.isCode ? (
          <pre key={index} className="block">
            {one.lines.join("\n")}
          </pre>
        ) : (
          block(one.lines, index)
        ),
      )}
    </div>
  );
}
