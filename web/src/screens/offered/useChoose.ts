import { useCallback, useRef } from "react";
import { useLocation, useNavigate } from "react-router";
import type { Item } from "../../state/items";

type Choose = (item: Item<unknown>, isStep: boolean) => void;

/** Whether what is shown was come to by a key that may be pressed again at once. */
export const useIsStep = (): boolean => useLocation().state?.isStep === true;

/** Go to what is chosen in a list. Steps by keyboard through it are one entry of the history. */
export function useChoose(chosen: string | null, path: (item: Item<unknown>) => string): Choose {
  const navigate = useNavigate();
  const wasStep = useIsStep();
  const latest = useRef({ chosen, path, wasStep });
  latest.current = { chosen, path, wasStep };
  return useCallback(
    (item, isStep) => {
      const { chosen: here, path: to, wasStep: isMore } = latest.current;
      const replace = (isStep && isMore) || item.key === here;
      void navigate(to(item), { replace, state: { isStep } });
    },
    [navigate],
  );
}
