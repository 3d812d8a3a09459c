// Files that share modules share the page's state too: each test begins with none of it.

import { notifications } from "@mantine/notifications";
import { afterEach, beforeEach } from "vitest";
import { emptyInspector, useInspector } from "../state/store";

// A toast may come after the test that led to it.
beforeEach(() => notifications.clean());
afterEach(() => useInspector.setState(emptyInspector(), true));
