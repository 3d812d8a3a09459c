// The state of a connection as a dot.
import type { DisplayState } from "../values/serverState";
import css from "./StateDot.module.css";

const TONES: Record<DisplayState, string | undefined> = {
  DISCONNECTED: css.off,
  CONNECTING: css.wait,
  CONNECTED: css.good,
  DISCONNECTING: css.wait,
  ERROR: css.bad,
  SIGN_IN: css.ask,
};

export function StateDot({ state }: { state: DisplayState }) {
  return <span className={`${css.dot} ${TONES[state]}`} aria-hidden="true" />;
}
