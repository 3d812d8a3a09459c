// Files that share modules share the page's state too: each test begins with none of it.

import { notifications } from "@mantine/notifications";
import { afterAll, afterEach, beforeEach, vi } from "vitest";
import { saveBasePath } from "../api/basePath";
import { ring } from "../state/events";
import { emptyInspector, useInspector } from "../state/store";

// A toast may come after the test that led to it.
beforeEach(() => notifications.clean());
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  saveBasePath("");
  ring.restart();
  useInspector.setState(emptyInspector(), true);
});
// A module that is still being loaded when a file ends would be broken for the files after it.
afterAll(() => vi.dynamicImportSettled());
