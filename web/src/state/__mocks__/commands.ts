// The functions that send commands, as spies: each test says what the backend answers.
import { vi } from "vitest";
import type * as commands from "../commands";

export const command = vi.fn<typeof commands.command>();
export const startCall = vi.fn<typeof commands.startCall>();
export const socket = { abandon: vi.fn<typeof commands.socket.abandon>() };
