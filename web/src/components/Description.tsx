// A description from a server: the first lines, expandable.
import { useElementSize } from "@mantine/hooks";
import { useLayoutEffect, useState } from "react";
import { visible } from "../values/hiddenCharacters";
import css from "./Description.module.css";
import { looksLikeMarkdown, Markdown } from "./Markdown";

interface Props {
  text: string;
  /** One line until it is opened, instead of six. */
  isBrief?: boolean;
}

export function Description({ text, isBrief = false }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [isLong, setLong] = useState(false);
  const { ref, width } = useElementSize<HTMLDivElement>();
  const [element, setElement] = useState<HTMLDivElement | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: how many lines it takes depends on the width
  useLayoutEffect(() => {
    if (element && !isOpen) setLong(element.scrollHeight > element.clientHeight + 1);
  }, [element, width, text, isOpen]);
  return (
    <div className={isBrief ? "row" : "stack tight"}>
      <div ref={ref} className={isBrief ? css.brief : undefined}>
        <div
          ref={setElement}
          className={css.text}
          data-closed={!isOpen || undefined}
          data-brief={isBrief || undefined}
        >
          {looksLikeMarkdown(text) ? (
            <Markdown text={text} />
          ) : (
            <bdi className={css.plain}>{visible(text)}</bdi>
          )}
        </div>
      </div>
      {isLong && (
        <button
          type="button"
          className={`plain ${css.more}`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "Less" : "More"}
        </button>
      )}
    </div>
  );
}
