import { useCallback, useRef } from "react";
import { useLocation, useNavigate } from "react-router";
import type { Item } from "../../state/items";

type Choose = (item: Item<unknown>, isStep: boolean) => void;

/** Go to what is chosen in a list. Steps by keyboard through it are one entry of the history. */
export function useChoose(chosen: string | null, path: (item: Item<unknown>) => string): Choose {
  const navigate = useNavigate();
  const latest = useRef({ chosen, path });
  latest.current = { chosen, path };
  return useCallback(
    (item, isStep) => {
      const replace = isStep && latest.current.chosen !== null;
      void navigate(latest.current.path(item), { replace, state: { isStep } });
    },
    [navigate],
  );
}

/** Whether what is shown was come to by a key that may be pressed again at once. */
export const useIsStep = (): boolean => useLocation().state?.isStep === true;
