// One tool in the list. Plain elements: a component of the library each would make long lists slow.

import { Mark } from "../../offered/marks";
import { Problem } from "../../offered/Problem";
import { Name } from "../../parts/Name";
import { type Item, titleOf } from "../../state/items";
import css from "./ToolRow.module.css";
import { hintsOf, type Tool } from "./tool";

export function ToolRow({ item }: { item: Item<Tool> }) {
  const tool = item.value;
  const title = titleOf(tool, item.key);
  return (
    <>
      <div className="row">
        <Problem text={item.problem} />
        <span className={`cut grow ${css.name}`}>
          <Name>{title}</Name>
        </span>
        <Mark of={item.key} />
        {hintsOf(tool).map((hint) => (
          <abbr
            key={hint.label}
            className={css.hint}
            data-tone={hint.color}
            title={`${hint.label}: ${hint.about}`}
          >
            {hint.short}
          </abbr>
        ))}
      </div>
      <div className={`cut dim ${css.about}`}>
        {tool.name && title !== tool.name && (
          <span className="mono">
            <Name>{tool.name}</Name>{" "}
          </span>
        )}
        <Name>{tool.description?.split("\n", 1)[0] ?? ""}</Name>
      </div>
    </>
  );
}
