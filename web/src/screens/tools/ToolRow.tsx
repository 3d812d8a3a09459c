import { Badge, Tooltip } from "@mantine/core";
import { Icon } from "../../parts/icons";
import type { Item } from "../../state/lists";
import { hintsOf, type Tool, titleOf } from "./tool";

export function ToolRow({ item }: { item: Item<Tool> }) {
  const tool = item.value;
  const title = titleOf(tool);
  return (
    <>
      <div className="row">
        {item.problem && (
          <Tooltip label={item.problem}>
            <span style={{ color: "var(--bad)", display: "flex" }}>
              <Icon name="alert" size={13} />
            </span>
          </Tooltip>
        )}
        <span className="cut grow" style={{ fontWeight: 500 }}>
          {title}
        </span>
        {hintsOf(tool).map((hint) => (
          <Tooltip key={hint.label} label={`${hint.label}: ${hint.about}`}>
            <Badge size="xs" style={{ flex: "none" }} color={hint.color} aria-label={hint.label}>
              {hint.short}
            </Badge>
          </Tooltip>
        ))}
      </div>
      <div className="cut dim" style={{ fontSize: 12 }}>
        {title !== tool.name && <span className="mono">{tool.name} </span>}
        {tool.description?.split("\n")[0] ?? ""}
      </div>
    </>
  );
}
