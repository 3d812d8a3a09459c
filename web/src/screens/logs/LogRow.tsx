import type { EventView } from "../../api/types";
import { clock } from "../../parts/format";
import css from "./LogRow.module.css";
import { levelOf, textOf } from "./levels";

export function LogRow({ event, withServer }: { event: EventView; withServer: boolean }) {
  const level = levelOf(event);
  return (
    <>
      <span className={css.time}>{clock(event.wall)}</span>
      {withServer && <span className={`${css.server} cut`}>{event.server_id}</span>}
      <span className={css.level} data-level={level}>
        {level}
      </span>
      {typeof event.detail.logger === "string" && (
        <span className={css.logger}>{event.detail.logger}</span>
      )}
      <span className={`${css.text} cut`} title={textOf(event)}>
        {textOf(event)}
      </span>
    </>
  );
}
