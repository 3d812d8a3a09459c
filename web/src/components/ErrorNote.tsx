// An error message in place: truncated, expandable, with a link to its help page.
import { Anchor, Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { ErrorView } from "../api/types";
import { withoutAnsi } from "../values/ansi";
import { asSentence, truncate } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import { pretty } from "../values/json";
import { copyText } from "./clipboard";
import css from "./ErrorNote.module.css";
import { Icon } from "./Icon";

// About two lines on a card, and four lines elsewhere.
const SHORT = 100;
const LONG = 400;

interface Props {
  error: ErrorView;
  title?: string;
  note?: ReactNode;
  action?: ReactNode;
  /** For narrow places. */
  isCard?: boolean;
  /** Whether the views beside it show all of the error: here, then, only a long message unfolds. */
  hasViews?: boolean;
  /** `wait` where the user has to act and nothing is broken. */
  tone?: "bad" | "wait";
}

export function ErrorNote({
  error,
  title,
  note,
  action,
  isCard,
  hasViews = false,
  tone = "bad",
}: Props) {
  const [isOpen, setOpen] = useState(false);
  const message = asSentence(visible(withoutAnsi(error.message)));
  const most = isCard ? SHORT : LONG;
  const hasDetails = !hasViews && Object.keys(error.details).length > 0;
  return (
    <div className={css.note} role="alert" data-tone={tone}>
      <Icon name={tone === "bad" ? "alert" : "auth"} />
      <div className={`stack tight ${css.body}`}>
        {title && <strong>{title}</strong>}
        <span className={css.message}>{isOpen ? message : truncate(message, most)}</span>
        {note && <span className="dim">{note}</span>}
        {hasViews && error.details.data !== undefined && (
          <>
            <span className="dim">Data that came with the error</span>
            <pre className="block">{truncate(pretty(error.details.data), most)}</pre>
          </>
        )}
        {isOpen && hasDetails && (
          <pre className="block">{pretty({ code: error.code, ...error.details })}</pre>
        )}
        <div className="row wrap">
          {action}
          {(hasDetails || message.length > most) && (
            <Button
              size="compact-xs"
              variant="subtle"
              color="gray"
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? "Show less" : "Show full error"}
            </Button>
          )}
          {isOpen && (
            <Button
              size="compact-xs"
              variant="subtle"
              color="gray"
              onClick={() => copyText(pretty(error))}
            >
              Copy
            </Button>
          )}
          <Anchor href={error.helpUrl} target="_blank" rel="noreferrer" size="xs">
            Troubleshooting guide
          </Anchor>
        </div>
      </div>
    </div>
  );
}
