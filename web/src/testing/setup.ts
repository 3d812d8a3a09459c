// What happy-dom lacks and the components use.

import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

// A text field that grows listens for them.
Object.defineProperty(document, "fonts", { value: new EventTarget(), configurable: true });

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  localStorage.clear();
});
