// Markdown, rendered by a module that is loaded when the first one is shown. Until then, and if it
// cannot be loaded, the text is shown as it is.
import { Component, memo, type ReactNode, useMemo } from "react";
import { isEasyMarkdown } from "../values/easyMarkdown";
import { visible } from "../values/hiddenCharacters";
import { Callout } from "./Callout";
import { lazyModule, useModule } from "./lazyModule";
import css from "./Markdown.module.css";
import { TextView } from "./TextView";

// Longer texts are shown as plain text: laying them out would take too long.
const MOST = 200_000;

export const markdownModule = lazyModule(() => import("./RenderedMarkdown"));

export const isWebLink = (url: string): boolean => /^https?:\/\//i.test(url);

const SIGNS = /(^#{1,6}[ \t]\S)|(^[ \t]*```)|(\*\*\S[^*]*\*\*)|(\[[^[\]]{1,500}\]\(https?:)/m;

/** Whether a text looks like Markdown. */
export function looksLikeMarkdown(text: string): boolean {
  if (text.length > MOST) return false;
  if (SIGNS.test(text)) return true;
  return (text.match(/^[ \t]*[-*][ \t]\S/gm)?.length ?? 0) > 1;
}

interface FallbackProps {
  children: ReactNode;
  instead: ReactNode;
}

/** Text that is nested too deeply for the parser is shown as it is. */
class Fallback extends Component<FallbackProps, { isBroken: boolean }> {
  override state = { isBroken: false };
  static getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }
  override render(): ReactNode {
    return this.state.isBroken ? this.props.instead : this.props.children;
  }
}

function Source({ text, label = "Text" }: { text: string; label?: string }) {
  const module = useModule(markdownModule);
  const isLong = text.length > MOST;
  const isEasy = useMemo(() => !isLong && isEasyMarkdown(text), [isLong, text]);
  if (!isEasy)
    return (
      <div className="stack tight">
        <Callout tone="info">
          {isLong
            ? `This text is too long to be rendered: it has ${text.length.toLocaleString("en")} characters.`
            : "This text is too deeply nested, or too irregular, to be rendered."}{" "}
          It is shown as plain text.
        </Callout>
        <TextView text={text} label={label} most={560} />
      </div>
    );
  const plain = <div className={css.source}>{visible(text)}</div>;
  return (
    <div className={css.markdown}>
      {module ? (
        <Fallback key={text} instead={plain}>
          <module.RenderedMarkdown text={text} />
        </Fallback>
      ) : (
        plain
      )}
    </div>
  );
}

/** Parsed and rendered only when the text changes. */
export const Markdown = memo(Source);
