// The examples of a tool, above its form: a click fills the form.
import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { Icon } from "../components/Icon";
import { truncate } from "../values/format";
import { pretty } from "../values/json";
import { deleteExample, useExamples } from "./examples";

// A hint, not the whole result.
const LONGEST = 300;

interface Props {
  serverId: string;
  tool: string;
  /** The arguments, as JSON text. */
  onChoose(given: string): void;
}

export function ExampleList({ serverId, tool, onChoose }: Props) {
  const examples = useExamples(serverId, tool);
  // Reserves space, so that the form does not move when examples load.
  return (
    <section className="row wrap" aria-label="Examples" style={{ minHeight: 24 }}>
      <span className="dim">
        {examples &&
          (examples.length ? "Examples:" : "No examples yet: a call can be saved as one")}
      </span>
      {examples?.map(({ name, arguments: given, result }) => (
        <span key={name} className="row" style={{ gap: 0 }}>
          <Tooltip
            multiline
            maw={420}
            label={truncate(`${given}${result === null ? "" : ` gave ${pretty(result)}`}`, LONGEST)}
          >
            <Button size="compact-xs" variant="default" onClick={() => onChoose(given)}>
              {name}
            </Button>
          </Tooltip>
          <ActionIcon
            size="sm"
            aria-label={`Delete the example ${name}`}
            onClick={() => void deleteExample({ server_id: serverId, tool }, name)}
          >
            <Icon name="close" size={12} />
          </ActionIcon>
        </span>
      ))}
    </section>
  );
}
