// The tools of a sampling request with their schemas, and the tool choice for Auto-respond.
import { Badge, Button, Select } from "@mantine/core";
import { useState } from "react";
import { JsonTree } from "../components/JsonTree";
import { ShowMore } from "../content/ShowMore";
import { visible } from "../values/hiddenCharacters";
import css from "./QuestionPanel.module.css";
import { type SamplingTool, TOOL_CHOICES } from "./questionParams";
import type { DraftProps } from "./samplingAnswer";

// Longer lists are searched by typing.
const MOST_NAMES = 200;

function Tool({ tool }: { tool: SamplingTool }) {
  const [isOpen, setOpen] = useState(false);
  const { inputSchema } = tool;
  const name = visible(tool.name);
  const description = visible(tool.description);
  return (
    <details className={css.details} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary title={description} className={css.tool}>
        <Badge>{name}</Badge> {!isOpen && <span className="dim">{description}</span>}
      </summary>
      {isOpen && (
        <>
          <p className={css.said}>{description || "No description."}</p>
          <JsonTree
            value={inputSchema ?? null}
            label={`Input schema of ${name}`}
            most={260}
            withSearch={false}
          />
        </>
      )}
    </details>
  );
}

interface Props extends DraftProps {
  tools: SamplingTool[];
  /** Begin an answer that calls a tool. */
  onToolCall(): void;
}

export function ToolChoice({ tools, draft, set, onToolCall }: Props) {
  const names = [...new Set(tools.map((tool) => tool.name))];
  return (
    <div className="card stack tight">
      <div className="row wrap">
        <span className="section-title grow">Tools ({names.length})</span>
        <Button size="compact-xs" variant="default" onClick={onToolCall}>
          Answer with a tool call
        </Button>
      </div>
      <ShowMore
        items={tools}
        noun="tool"
        render={(tool, index) => <Tool key={index} tool={tool} />}
      />
      <div className={css.grid}>
        <Select
          label="Tool choice"
          description="Applies to Auto-respond only"
          data={TOOL_CHOICES}
          allowDeselect={false}
          value={draft.toolChoice}
          onChange={(value) => set({ toolChoice: value ?? "auto" })}
        />
        {draft.toolChoice === "specific" && (
          <Select
            label="Tool to call"
            description="Used by Auto-respond"
            data={names}
            searchable
            limit={MOST_NAMES}
            value={draft.tool}
            onChange={(tool) => set({ tool })}
          />
        )}
      </div>
    </div>
  );
}
