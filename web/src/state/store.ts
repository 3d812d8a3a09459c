// The latest view of each server, call, question, task and setting, by key. Newer views replace
// older ones; there is no state machine here.
import { create } from "zustand";
import type { BackendLink } from "../api/socket";
import type {
  CallView,
  Changed,
  CollectionRunView,
  GatewayView,
  Hello,
  ListSummary,
  ObjectKind,
  ObjectViews,
  ProfileView,
  QuestionView,
  RunInfoView,
  ServerMessage,
  ServerView,
  SettingView,
  TaskView,
} from "../api/types";
import { ring } from "./events";

interface Inspector {
  link: BackendLink;
  run_id: string | null;
  version: string;
  first_server_id: string | null;
  recording_problem: string | null;
  /** The run before this one, if mcplens was restarted while this page was open. */
  earlier_run_id: string | null;
  servers: Map<string, ServerView>;
  calls: Map<string, CallView>;
  questions: Map<string, QuestionView>;
  tasks: Map<string, TaskView>;
  settings: Map<string, SettingView>;
  collectionRuns: Map<string, CollectionRunView>;
  profiles: ProfileView[];
  /** Runs that other processes record, or have recorded while this page was open. */
  runs: Map<string, RunInfoView>;
  /** Null until the backend has said. */
  gateway: GatewayView | null;
}

export const emptyInspector = (): Inspector => ({
  link: { state: "connecting", retryAt: null, attempts: 0, isTaken: false },
  run_id: null,
  version: "",
  first_server_id: null,
  recording_problem: null,
  earlier_run_id: null,
  servers: new Map(),
  calls: new Map(),
  questions: new Map(),
  tasks: new Map(),
  settings: new Map(),
  collectionRuns: new Map(),
  profiles: [],
  runs: new Map(),
  gateway: null,
});

export const useInspector = create<Inspector>()(emptyInspector);

const byKey = <T>(items: T[], key: (item: T) => string): Map<string, T> =>
  new Map(items.map((item) => [key(item), item]));

/** The backend's key: two servers, and both sides, may choose the same id. */
export const taskKey = (task: TaskView): string => `${task.server_id}/${task.role}/${task.task_id}`;

function fromHello(state: Inspector, hello: Hello): Partial<Inspector> {
  return {
    run_id: hello.run_id,
    version: hello.version,
    first_server_id: hello.first_server_id,
    recording_problem: hello.recording_problem,
    earlier_run_id: state.run_id === hello.run_id ? state.earlier_run_id : state.run_id,
    servers: byKey(hello.servers, (server) => server.server_id),
    calls: byKey(hello.calls, (call) => call.call_id),
    questions: byKey(hello.questions, (question) => question.question_id),
    tasks: byKey(hello.tasks, taskKey),
    settings: byKey(hello.settings, (setting) => setting.name),
    collectionRuns: byKey(hello.collection_runs, (run) => run.collection_run_id),
    profiles: hello.profiles,
    runs: byKey(hello.runs, ({ run }) => run.run_id),
    gateway: hello.gateway,
  };
}

function withEntry<T>(map: Map<string, T>, key: string, value: T | null): Map<string, T> {
  const next = new Map(map);
  if (value === null) next.delete(key);
  else next.set(key, value);
  return next;
}

/** New servers are listed before the built-in one, as after a restart. */
function withServer(
  servers: Map<string, ServerView>,
  key: string,
  value: ServerView | null,
): Map<string, ServerView> {
  const next = withEntry(servers, key, value);
  if (servers.has(key)) return next;
  for (const [id, server] of servers) {
    if (server.source.kind !== "built-in") continue;
    next.delete(id);
    next.set(id, server);
  }
  return next;
}

/** A change with its value typed by `what`. */
type TypedChange = {
  [What in ObjectKind]: Changed & { what: What; value: ObjectViews[What] | null };
}[ObjectKind];

function withList(
  state: Inspector,
  server_id: string,
  summary: ListSummary | null,
): Partial<Inspector> {
  const server = state.servers.get(server_id);
  if (!server || !summary) return {};
  const lists = [...server.lists.filter((list) => list.kind !== summary.kind), summary];
  return { servers: withEntry(state.servers, server_id, { ...server, lists }) };
}

function applyChange(state: Inspector, change: Changed): Partial<Inspector> {
  const { what, key, value } = change as TypedChange;
  switch (what) {
    case "servers":
      return { servers: withServer(state.servers, key, value) };
    case "calls":
      return { calls: withEntry(state.calls, key, value) };
    case "questions":
      return { questions: withEntry(state.questions, key, value) };
    case "settings":
      return { settings: withEntry(state.settings, key, value) };
    case "tasks":
      return { tasks: withEntry(state.tasks, key, value) };
    case "lists":
      return withList(state, change.server_id, value);
    case "collection_runs":
      return { collectionRuns: withEntry(state.collectionRuns, key, value) };
    case "runs":
      return { runs: withEntry(state.runs, key, value) };
    case "recording":
      return { recording_problem: value?.problem ?? null };
    case "gateway":
      return { gateway: value };
  }
}

// A server may ask a thousand questions in a second: the first is shown at once, the others in
// batches.
const TOGETHER_MS = 100;
const pendingQuestions = new Map<string, QuestionView | null>();
let isWaiting = false;

function flushQuestions(): void {
  if (pendingQuestions.size === 0) return;
  const questions = new Map(useInspector.getState().questions);
  for (const [key, value] of pendingQuestions)
    if (value === null) questions.delete(key);
    else questions.set(key, value);
  pendingQuestions.clear();
  useInspector.setState({ questions });
}

function queueQuestion({ key, value }: Changed): void {
  pendingQuestions.set(key, value as QuestionView | null);
  if (isWaiting) return;
  flushQuestions();
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    flushQuestions();
  }, TOGETHER_MS);
}

/** Apply one message of the backend. */
export function apply(message: ServerMessage): void {
  switch (message.type) {
    case "Hello":
      if (!message.is_resumed) ring.restart();
      pendingQuestions.clear();
      useInspector.setState((state) => fromHello(state, message));
      return;
    case "Events":
      ring.append(message.events);
      return;
    case "Missed":
      ring.miss({ first_seq: message.first_seq, last_seq: message.last_seq });
      return;
    case "Changed":
      if (message.what === "questions") queueQuestion(message);
      else useInspector.setState((state) => applyChange(state, message));
      return;
    case "CommandReply":
    case "Failure":
      return;
    default: {
      message satisfies never;
    }
  }
}
