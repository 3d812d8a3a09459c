// Browser features that the components use and happy-dom lacks.

import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

// Used by auto-growing text fields.
Object.defineProperty(document, "fonts", { value: new EventTarget(), configurable: true });

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  localStorage.clear();
});
