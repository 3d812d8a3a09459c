import { useCallback, useEffect, useRef } from "react";
import { useLocation, useNavigate } from "react-router";
import type { Item } from "../state/items";

type Choose = (item: Item<unknown>, isStep: boolean) => void;

/** Whether the current item was reached by an arrow key, so that more key presses may follow. */
export const useIsKeyboardStep = (): boolean => useLocation().state?.isStep === true;

/** Navigates to the selected item. Keyboard steps through a list make one history entry. */
export function useSelectItem(
  chosen: string | null,
  path: (item: Item<unknown>) => string,
): Choose {
  const navigate = useNavigate();
  const latest = useRef({ chosen, path });
  latest.current = { chosen, path };
  // Keys may be pressed faster than the target is rendered.
  const isStepping = useRef(false);
  const { key } = useLocation();
  const wasStep = useIsKeyboardStep();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each address says how it was come to
  useEffect(() => {
    isStepping.current = wasStep;
  }, [key, wasStep]);
  return useCallback(
    (item, isStep) => {
      const to = latest.current;
      const replace = (isStep && isStepping.current) || item.key === to.chosen;
      isStepping.current = isStep;
      void navigate(to.path(item), { replace, state: { isStep } });
    },
    [navigate],
  );
}
