// What is known of one running app, and what its host needs from the page.
import type { JsonObject } from "../values/jsonObject";
import type { AppFile, AppMessage } from "./dialect";
import type { DisplayMode } from "./hostSettings";

/** A link or files that wait for a click of the person. */
export interface Consent {
  key: number;
  url?: string;
  files?: AppFile[];
}

export interface AppTool {
  name: string;
  description?: string;
}

export interface AppState {
  phase: "loading" | "initializing" | "initialized" | "closing" | "closed";
  /** When `ui/initialize` was answered, null before. */
  name: string | null;
  modes: string[];
  size: { width?: number; height?: number } | null;
  displayMode: DisplayMode;
  /** The mode that the app was told. */
  toldMode: DisplayMode;
  consents: Consent[];
  /** Shown, and sent nowhere. */
  messages: unknown[];
  modelContext: JsonObject | null;
  logs: JsonObject[];
  refusals: { method: string; reason: string }[];
  /** Tools that the app itself offers; null if it has not declared any. */
  tools: AppTool[] | null;
  /** How many messages were exchanged. */
  count: number;
  /** That it sends too much, once it does. */
  problem: string | null;
}

export interface HostOptions {
  capabilities: readonly string[];
  modes: readonly DisplayMode[];
  context: Record<string, unknown>;
  toolInfo: JsonObject;
  /** The domains and permissions that the app was given. */
  sandbox: JsonObject;
  version: string;
  post(message: AppMessage): void;
  record(side: "app" | "host", text: string, refusal?: string): void;
  /** Carries out a request for the server; the answer was recorded already. */
  request(text: string): Promise<AppMessage>;
  openLink(url: string): void;
  saveFile(file: AppFile): void;
}

export const initialState = (displayMode: DisplayMode): AppState => ({
  phase: "loading",
  name: null,
  modes: [],
  size: null,
  displayMode,
  toldMode: displayMode,
  consents: [],
  messages: [],
  modelContext: null,
  logs: [],
  refusals: [],
  tools: null,
  count: 0,
  problem: null,
});

/** The call of an app's tool, as far as it has come. */
export interface ToolOutcome {
  arguments?: JsonObject;
  result?: unknown;
  cancelled?: string;
}
