// One tool in the list. Plain elements: Mantine components would make long lists slow.

import { BrokenDefinitionIcon } from "../../catalog/BrokenDefinitionIcon";
import { ChangeMark } from "../../catalog/ChangeMark";
import { UntrustedText } from "../../components/UntrustedText";
import { type Item, itemTitle } from "../../state/items";
import css from "./ToolRow.module.css";
import { hintsOf, type Tool } from "./toolHints";
import { sizeOf, tokenEstimate } from "./toolSize";

interface Props {
  item: Item<Tool>;
  /** Its size, at the end of the second line. */
  size?: string;
}

export const SizedRow = ({ item }: { item: Item<Tool> }) => (
  <ToolRow item={item} size={tokenEstimate(sizeOf(item.value))} />
);

export function ToolRow({ item, size }: Props) {
  const tool = item.value;
  const title = itemTitle(tool, item.key);
  return (
    <>
      <div className="row">
        <BrokenDefinitionIcon text={item.problem} />
        <span className={`cut grow ${css.name}`}>
          <UntrustedText>{title}</UntrustedText>
        </span>
        <ChangeMark of={item.key} />
        {hintsOf(tool).map((hint) => (
          <span
            key={hint.label}
            className={css.hint}
            data-tone={hint.color}
            title={`${hint.label}: ${hint.about}`}
          >
            {hint.label}
          </span>
        ))}
      </div>
      <div className={`row dim ${css.about}`}>
        <span className="cut grow">
          {tool.name && title !== tool.name && (
            <span className="mono">
              <UntrustedText>{tool.name}</UntrustedText>{" "}
            </span>
          )}
          <UntrustedText>{tool.description?.split("\n", 1)[0] ?? ""}</UntrustedText>
        </span>
        {size && <span className={css.size}>{size}</span>}
      </div>
    </>
  );
}
