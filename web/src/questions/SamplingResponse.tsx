// Fields of a sampling response: text, model and stop reason.
import { ActionIcon, Autocomplete, Textarea, TextInput } from "@mantine/core";
import type { ReactNode, RefObject } from "react";
import { copyText } from "../components/clipboard";
import { Icon } from "../components/Icon";
import css from "./QuestionPanel.module.css";
import { type DraftProps, STOP_REASONS } from "./samplingAnswer";

interface Props extends DraftProps {
  field: RefObject<HTMLTextAreaElement | null>;
  /** What is wrong with the response. */
  problem: string | null;
  /** Another field in the row of the model. */
  children: ReactNode;
}

export function ResponseFields({ draft, set, field, problem, children }: Props) {
  return (
    <>
      <Textarea
        ref={field}
        error={problem}
        label={
          <span className="row">
            Response
            <ActionIcon
              size="xs"
              aria-label="Copy the response"
              onClick={() => void copyText(draft.text)}
            >
              <Icon name="copy" size={12} />
            </ActionIcon>
          </span>
        }
        autosize
        minRows={3}
        maxRows={16}
        value={draft.text}
        onChange={(event) => set({ text: event.currentTarget.value })}
      />
      <div className={css.grid}>
        <TextInput
          label="Model"
          value={draft.model}
          onChange={(event) => set({ model: event.currentTarget.value })}
        />
        <Autocomplete
          label="Stop reason"
          data={STOP_REASONS}
          value={draft.stopReason}
          onChange={(stopReason) => set({ stopReason })}
        />
        {children}
      </div>
    </>
  );
}
