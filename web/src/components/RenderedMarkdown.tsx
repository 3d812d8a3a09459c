// Markdown with GitHub's tables and task lists. HTML in it is shown as text, pictures are not
// loaded, and only http(s) links can be clicked.
import { Children, createElement, isValidElement, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { visible } from "../values/hiddenCharacters";
import { languageOfFence } from "../values/highlight";
import { CodeBlock } from "./CodeBlock";
import { isWebLink } from "./Markdown";
import css from "./Markdown.module.css";

interface Node {
  type: string;
  value?: string;
  children?: Node[];
}

/** Shows characters that cannot be seen, wherever text is. */
function showHidden(node: Node): void {
  if (node.type === "text" && node.value !== undefined) node.value = visible(node.value);
  for (const child of node.children ?? []) showHidden(child);
}
const rehypeVisible = () => showHidden;

function LinkTo({ url, children }: { url: string | undefined; children: ReactNode }) {
  if (url === undefined || !isWebLink(url))
    return <span title={url && visible(url)}>{children}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer noopener" title={visible(url)}>
      {children}
    </a>
  );
}

/** A heading of this level; the page has headings of its own above these. */
const heading =
  (level: number): Components["h1"] =>
  ({ children }) =>
    createElement(
      `h${Math.min(6, level + 3)}`,
      { className: css.heading, "data-level": level },
      children,
    );

function Fence({ children }: { children?: ReactNode }) {
  const code = Children.toArray(children).find(
    isValidElement<{ className?: string; children?: ReactNode }>,
  );
  const word = /language-(\S+)/.exec(code?.props.className ?? "")?.[1] ?? "";
  const text = String(code?.props.children ?? "").replace(/\n$/, "");
  return <CodeBlock text={text} language={languageOfFence(word)} />;
}

const COMPONENTS: Components = {
  a: ({ href, children }) => <LinkTo url={href}>{children}</LinkTo>,
  img: ({ src, alt }) => (
    <LinkTo url={typeof src === "string" ? src : undefined}>
      [picture: {alt || "no description"}]
    </LinkTo>
  ),
  input: ({ checked }) => (
    <input
      type="checkbox"
      checked={checked === true}
      readOnly
      disabled
      aria-label={checked ? "done" : "not done"}
    />
  ),
  pre: ({ children }) => <Fence>{children}</Fence>,
  table: ({ children }) => (
    <div className={css.table}>
      <table>{children}</table>
    </div>
  ),
  h1: heading(1),
  h2: heading(2),
  h3: heading(3),
  h4: heading(4),
  h5: heading(5),
  h6: heading(6),
};
const PARSING = [remarkGfm];
const DRAWING = [rehypeVisible];

export function RenderedMarkdown({ text }: { text: string }) {
  return (
    <ReactMarkdown
      remarkPlugins={PARSING}
      rehypePlugins={DRAWING}
      components={COMPONENTS}
      // Links are judged where they are drawn.
      urlTransform={(url) => url}
    >
      {text}
    </ReactMarkdown>
  );
}
