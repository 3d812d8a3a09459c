import { useCallback, useEffect, useRef } from "react";
import { useLocation, useNavigate } from "react-router";
import type { Item } from "../state/items";

type Choose = (item: Item<unknown>, isStep: boolean) => void;

/** Whether what is shown was come to by a key that may be pressed again at once. */
export const useIsKeyboardStep = (): boolean => useLocation().state?.isStep === true;

/** Go to what is chosen in a list. Steps by keyboard through it are one entry of the history. */
export function useSelectItem(
  chosen: string | null,
  path: (item: Item<unknown>) => string,
): Choose {
  const navigate = useNavigate();
  const latest = useRef({ chosen, path });
  latest.current = { chosen, path };
  // Keys may come faster than what they lead to is drawn.
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
