// Loads all code while the page is idle, so that every screen opens even when mcplens stops
// responding.
import { lazyModules } from "./components/lazyModule";
import { useInspector } from "./state/store";

const idle = (): Promise<unknown> =>
  new Promise((resolve) =>
    "requestIdleCallback" in window ? requestIdleCallback(resolve) : setTimeout(resolve, 200),
  );

/**
 * Resolves once mcplens responds. Another program may use its port by now, and its code must not be
 * loaded.
 */
const answered = (): Promise<void> =>
  new Promise((resolve) => {
    const isThere = () => {
      const { link, run_id } = useInspector.getState();
      return link.state === "open" && run_id !== null;
    };
    if (isThere()) return resolve();
    const unsubscribe = useInspector.subscribe(() => {
      if (!isThere()) return;
      unsubscribe();
      resolve();
    });
  });

/** Whether the browser is asked to load no more than is needed. */
const isSavingData = (): boolean =>
  (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true;

/** A page that was just opened has more urgent things to load. */
const CALM_MS = 3000;

export async function preloadModules(): Promise<void> {
  if (isSavingData()) return;
  await answered();
  await new Promise((resolve) => setTimeout(resolve, CALM_MS));
  // Screens add to these as they are loaded.
  for (const module of lazyModules()) {
    await answered();
    await idle();
    await answered();
    // A module that fails to load is requested again when it is needed.
    if (!module.loaded) await module.load().catch(() => {});
  }
}
