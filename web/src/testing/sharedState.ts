// Files that share modules share the page's state too: each test begins with none.

import { afterEach } from "vitest";
import { emptyInspector, useInspector } from "../state/store";

afterEach(() => useInspector.setState(emptyInspector(), true));
