// Modules that many test files replace, replaced for all files that share them.
import { afterEach, vi } from "vitest";
import { command, socket, startCall } from "../state/commands";

vi.mock("../components/CodeEditor");
vi.mock("../state/commands");

afterEach(() => {
  for (const spy of [command, startCall, socket.abandon]) vi.mocked(spy).mockReset();
});
