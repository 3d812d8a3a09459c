// A button that explains in a tooltip why it is disabled. It stays focusable, so that keyboard
// users can read the reason.
import { Button, type ButtonProps, Tooltip } from "@mantine/core";

interface Props extends ButtonProps {
  /** Null if the button is enabled. */
  disabledReason: string | null;
  /** Tooltip while the button is enabled. */
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
