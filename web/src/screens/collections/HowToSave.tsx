import { Icon } from "../../components/Icon";
import css from "./Collections.module.css";

/** Names the button that saves a call, with its icon. */
export const HowToSave = () => (
  <>
    Make a call and press{" "}
    <span className={css.button}>
      <Icon name="collections" size={13} /> Save this call
    </span>{" "}
    beside its result.
  </>
);
