// Fetches all code while nothing else is to be done, so that each screen opens even when mcplens no
// longer answers.
import { lazyModules } from "./components/lazyModule";
import { useInspector } from "./state/store";

const idle = (): Promise<unknown> =>
  new Promise((resolve) =>
    "requestIdleCallback" in window ? requestIdleCallback(resolve) : setTimeout(resolve, 200),
  );

/** Until mcplens is there. Another program may have its port by now: that one's code is not wanted. */
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

/** Whoever has just opened the page has more urgent things to load. */
const CALM_MS = 3000;

export async function preloadModules(): Promise<void> {
  await answered();
  await new Promise((resolve) => setTimeout(resolve, CALM_MS));
  // Screens add to these as they are loaded.
  for (const module of lazyModules()) {
    await answered();
    await idle();
    await answered();
    // What cannot be had now is asked for again when it is needed.
    if (!module.loaded) await module.load().catch(() => {});
  }
}
