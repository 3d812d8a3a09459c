// Marks an item whose definition is invalid.
import { Icon } from "../components/Icon";
import css from "./BrokenDefinitionIcon.module.css";

export function BrokenDefinitionIcon({ text }: { text: string | null }) {
  if (!text) return null;
  return (
    <span className={css.problem} title={text}>
      <Icon name="alert" size={13} />
      <span className="sr">broken definition</span>
    </span>
  );
}
