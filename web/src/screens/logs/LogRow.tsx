import { memo } from "react";
import type { EventView } from "../../api/types";
import { withoutAnsi } from "../../values/ansi";
import { formatTime, truncate } from "../../values/format";
import css from "./LogRow.module.css";
import { levelOf, loggerOf, textOf } from "./logLines";

// More than fits on one line of the widest screen.
const DRAWN = 1_000;

/** One log line: time, level, logger and text. */
export const LogRow = memo(({ event, withServer }: { event: EventView; withServer: boolean }) => {
  const level = levelOf(event);
  const logger = loggerOf(event);
  const text = truncate(withoutAnsi(textOf(event)), DRAWN);
  return (
    <>
      <span className={css.time}>{formatTime(event.wall)}</span>
      {withServer && <span className={`${css.server} cut`}>{event.server_id}</span>}
      <span className={css.place}>
        <span className={css.level} data-level={level}>
          {level}
        </span>
      </span>
      {logger && <span className={css.logger}>{logger}</span>}
      <span className={css.text} title={text}>
        {text.replace(/[\r\n]+/g, " ")}
      </span>
    </>
  );
});
LogRow.displayName = "LogRow";
