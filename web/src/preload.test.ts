// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Whether a module is loaded in advance by a browser with this connection. */
async function isLoaded(connection: object | undefined): Promise<boolean> {
  // The modules of screens would have to be loaded first, and time stands still.
  vi.resetModules();
  const { lazyModule } = await import("./components/lazyModule");
  const { preloadModules } = await import("./preload");
  const { useInspector } = await import("./state/store");
  vi.useFakeTimers();
  vi.stubGlobal("navigator", { connection });
  const module = lazyModule(async () => "code");
  const { link } = useInspector.getState();
  useInspector.setState({ run_id: "run", link: { ...link, state: "open" } });
  void preloadModules();
  await vi.advanceTimersByTimeAsync(60_000);
  vi.useRealTimers();
  return module.loaded !== null;
}

test("the code of all screens is loaded in advance", async () => {
  expect(await isLoaded(undefined)).toBe(true);
  expect(await isLoaded({ saveData: false })).toBe(true);
});

test("a browser that saves data loads only what is needed", async () => {
  expect(await isLoaded({ saveData: true })).toBe(false);
});
