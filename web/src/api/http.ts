// HTTP requests: whole events, large results, the recording, exports.
import { withBasePath } from "./basePath";
import { CommandError } from "./socket";
import type { ErrorView, EventPage, ImportedView, MatchesView, RunPage, WholeEvent } from "./types";

async function ask(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(withBasePath(path), init).catch(unreached);
  if (response.ok) return response;
  throw new CommandError(await failure(response));
}

/** The browser's own message is only "Failed to fetch". */
function unreached(thrown: unknown): never {
  if (thrown instanceof TypeError) throw new Error("mcplens is not responding.", { cause: thrown });
  throw thrown;
}

async function failure(response: Response): Promise<ErrorView> {
  const body: unknown = await response.json().catch(() => null);
  if (body && typeof body === "object" && "message" in body) return body as ErrorView;
  return {
    code: "HTTP_ERROR",
    message: `mcplens answered ${response.status} ${response.statusText}.`,
    category: "transport",
    retryable: false,
    details: {},
    helpUrl: "/docs/errors/http-error",
  };
}

const segment = encodeURIComponent;

export const fetchEvent = async (runId: string, seq: number): Promise<WholeEvent> =>
  (await ask(`/api/event/${segment(runId)}/${seq}`)).json();

export const fetchBytes = async (runId: string, seq: number): Promise<Uint8Array> =>
  new Uint8Array(await (await ask(bytesOf(runId, seq))).arrayBuffer());

const bytesOf = (runId: string, seq: number): string => `/api/event/${segment(runId)}/${seq}/bytes`;

export const bytesPath = (runId: string, seq: number): string => withBasePath(bytesOf(runId, seq));

export const fetchResult = async (callId: string): Promise<string> =>
  (await ask(`/api/calls/${segment(callId)}/result`)).text();

/** The frame that carried the result of a call. */
export const fetchReply = async (callId: string): Promise<WholeEvent> =>
  (await ask(`/api/calls/${segment(callId)}/reply`)).json();

export const fetchRequest = async (callId: string): Promise<string> =>
  (await ask(`/api/calls/${segment(callId)}/request`)).text();

/** The params of a question as the server wrote them, with exact numbers. */
export const fetchParams = async (questionId: string): Promise<string> =>
  (await ask(`/api/questions/${segment(questionId)}/params`)).text();

/** The newest runs. */
export const fetchRuns = async (most: number): Promise<RunPage> =>
  (await ask(`/api/history?limit=${most}`)).json();

export const fetchHistory = async (query: Record<string, string>): Promise<EventPage> =>
  (await ask(`/api/history/events?${new URLSearchParams(query)}`)).json();

/** Cancelled by the signal, here and in mcplens. */
export const fetchMatches = async (
  query: Record<string, string>,
  signal?: AbortSignal,
): Promise<MatchesView> =>
  (await ask(`/api/history/matches?${new URLSearchParams(query)}`, { signal })).json();

export type ExportFormat = "jsonl" | "har";

/** URL path of an export of a run, of one server or of all. */
export const exportPath = (
  format: ExportFormat,
  runId: string | null,
  serverId: string | null,
  name: string,
): string => {
  const query = new URLSearchParams({ format, name });
  if (runId !== null) query.set("run", runId);
  if (serverId !== null) query.set("server_id", serverId);
  return withBasePath(`/api/export?${query}`);
};

/** URL path of an export of these seq ranges (first and last of each). */
export async function fetchRowsPath(
  format: ExportFormat,
  runId: string,
  spans: number[],
  name: string,
): Promise<string> {
  const body = JSON.stringify(spans);
  const { rows } = await (await ask("/api/export/rows", { method: "POST", body })).json();
  return withBasePath(`/api/export?${new URLSearchParams({ format, name, run: runId, rows })}`);
}

export const importTrace = async (file: File): Promise<ImportedView> => {
  const query = new URLSearchParams({ name: file.name });
  return (await ask(`/api/import?${query}`, { method: "POST", body: file })).json();
};
