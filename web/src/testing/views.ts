// Views as the backend would send them, for tests.
import type { CallView, EventView, Hello, ServerView, TaskView } from "../api/types";

export function anEvent(part: Partial<EventView> & { seq: number }): EventView {
  return {
    run_id: "run",
    wall: 1_700_000_000 + part.seq,
    mono: part.seq,
    server_id: "demo",
    kind: "FrameSent",
    method: null,
    request_id: null,
    status: null,
    size_bytes: 10,
    head: "{}",
    malformed: null,
    detail: {},
    is_cut: false,
    ...part,
  };
}

export function aServer(part: Partial<ServerView> = {}): ServerView {
  return {
    server_id: "demo",
    title: null,
    source: { kind: "built-in", path: "", scope: "given" },
    transport: "stdio",
    shown: "python demo",
    command: ["python", "demo"],
    url: null,
    cwd: null,
    env_names: [],
    header_names: [],
    is_editable: false,
    is_removable: false,
    needs_confirmation: false,
    problem: null,
    remarks: [],
    inputs: [],
    state: "CONNECTED",
    since: 0,
    waiting_for: null,
    error: null,
    retry: null,
    latency_s: null,
    protocol_version: "2025-11-25",
    server_info: {},
    capabilities: {},
    client_capabilities: {},
    declared_capabilities: null,
    needs_reconnect: false,
    is_outdated: false,
    is_saved: true,
    instructions: null,
    channel: {},
    exit: null,
    stderr_tail: [],
    queue: { pending: 0, in_progress: 0, completed: 0, failed: 0, cancelled: 0 },
    lists: [],
    subscriptions: [],
    log_level: null,
    roots: [],
    profile: null,
    ...part,
  };
}

export function aHello(part: Partial<Hello> = {}): Hello {
  return {
    type: "Hello",
    id: 1,
    run_id: "run",
    version: "1",
    seq: 0,
    after_seq: 0,
    is_resumed: false,
    is_recording: true,
    recording_problem: null,
    first_server_id: null,
    servers: [],
    calls: [],
    questions: [],
    tasks: [],
    settings: [],
    profiles: [],
    ...part,
  };
}

export function aTask(part: Partial<TaskView> = {}): TaskView {
  return {
    task_id: "t1",
    server_id: "demo",
    role: "client",
    method: "tools/call",
    status: "working",
    message: null,
    created: 100,
    updated: 100,
    expires: null,
    poll_interval_s: null,
    request_id: null,
    call_id: null,
    question_id: null,
    task: {},
    is_over: false,
    is_gone: false,
    ...part,
  };
}

export function aCall(part: Partial<CallView> = {}): CallView {
  return {
    call_id: "c1",
    server_id: "demo",
    kind: "tool",
    method: "tools/call",
    name: "add",
    request: null,
    request_id: 7,
    request_ids: [7],
    status: "completed",
    started: 1_700_000_000,
    elapsed_s: 0.1,
    progress: null,
    is_waiting_on_user: false,
    question_ids: [],
    awaiting: [],
    result: null,
    result_size_bytes: 0,
    is_error: false,
    findings: [],
    error: null,
    task_id: null,
    ...part,
  };
}
