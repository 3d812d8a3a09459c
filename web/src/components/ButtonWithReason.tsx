// A button that says why it cannot be pressed, also to whoever reaches it by keyboard: one that is
// disabled takes no focus.
import { Button, type ButtonProps, Tooltip } from "@mantine/core";

interface Props extends ButtonProps {
  /** Null if it can be pressed. */
  disabledReason: string | null;
  /** What is to be known of it otherwise. */
  hint?: string;
  onClick(): void;
  "data-run"?: boolean;
}

const EVENTS = { hover: true, focus: true, touch: true };

export function ButtonWithReason({ disabledReason, hint, onClick, ...rest }: Props) {
  const label = disabledReason ?? hint;
  return (
    <Tooltip label={label} disabled={!label} events={EVENTS}>
      <Button
        {...rest}
        aria-disabled={disabledReason !== null}
        data-disabled={disabledReason !== null || undefined}
        onClick={() => disabledReason === null && onClick()}
      />
    </Tooltip>
  );
}
