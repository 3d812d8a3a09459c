// Written by `python -m mcplens.web.typescript`; do not edit.
// The structs are in src/mcplens/web/: api/, messages.py, dispatch.py.

export type State = "DISCONNECTED" | "CONNECTING" | "CONNECTED" | "DISCONNECTING" | "ERROR";

export type CallStatus = "pending" | "in_progress" | "completed" | "cancelled" | "error";

export type ListKind = "tools" | "resources" | "resource_templates" | "prompts";

export type ObjectKind = "servers" | "calls" | "questions" | "tasks" | "lists" | "settings" | "recording" | "collection_runs" | "runs" | "gateway";

export type StepState = "pending" | "paused" | "started" | "waiting" | "done" | "failed";

/**
 * Stop what a command of the same page waits for; it then fails as cancelled.
 */
export interface Abandon {
  type: "Abandon";
  id: number;
  command_id: number;
}

/**
 * `path` is a folder or a file:// URI. `save` writes the roots into the server's entry.
 */
export interface AddRoot {
  type: "AddRoot";
  id: number;
  server_id: string;
  path: string;
  name?: string | null;
  save?: boolean;
}

/**
 * `content` is sent as it is: no default is filled in. `force` sends what breaks the form.
 */
export interface AnswerElicitation {
  type: "AnswerElicitation";
  id: number;
  question_id: string;
  action: "accept" | "cancel" | "decline";
  content?: unknown;
  force?: boolean;
}

/**
 * `result` is a CreateMessageResult; `force` sends one that breaks the rules.
 */
export interface AnswerSampling {
  type: "AnswerSampling";
  id: number;
  question_id: string;
  result: unknown;
  force?: boolean;
}

/**
 * What an app's request is answered with; `call_id` is the call that was made for it.
 */
export interface AppAnswer {
  message: unknown;
  call_id: string | null;
}

/**
 * What is wrong with an app, found without running it.
 */
export interface AppFindingView {
  code: string;
  severity: "error" | "note" | "warning";
  text: string;
  line: number | null;
}

/**
 * An open app. Its document is at `/doc/{key}` of `port`, for a short time.
 *
 * `policy` is the Content-Security-Policy that it runs under, `findings` what is wrong with the
 * declarations of its tool and its resource. `tool_definition` is what the app is told of its
 * tool, without members that are null.
 */
export interface AppView {
  app_id: string;
  server_id: string;
  tool: string;
  uri: string;
  key: string;
  port: number;
  profile: "reference" | "specification";
  policy: string;
  domains: DomainView[];
  permissions: string[];
  prefers_border: boolean | null;
  domain: string | null;
  size_bytes: number;
  tool_definition: unknown;
  findings: AppFindingView[];
}

/**
 * What waits for approval, the first of it; `count` counts all.
 *
 * `problem` says why approvals cannot be read or kept.
 */
export interface ApprovalView {
  count: number;
  problem: string | null;
  waiting: WaitingView[];
}

/**
 * Approve these definitions as they were shown; one that changed meanwhile still waits.
 */
export interface ApproveDefinitions {
  type: "ApproveDefinitions";
  id: number;
  chosen: ChosenDefinition[];
}

/**
 * What is known of a request after its end; `name` is a tool, a prompt or a URI.
 *
 * `caller` is the name of the token or the subject of the user, "" if no token is asked for.
 * `reason` is there where the client was not told all of it, and where access control refused a
 * request: `method` and `path` are then those of HTTP.
 */
export interface AuditLine {
  time: number;
  run: string;
  seq: number;
  client: string;
  client_id: string;
  path: string;
  method: string;
  name: string | null;
  server: string;
  outcome: string;
  seconds: number;
  request_bytes: number;
  answer_bytes: number;
  reason: string;
  caller: string;
}

/**
 * The newest lines of the audit log, the newest first; `path` is null if none is written.
 */
export interface AuditView {
  path: string | null;
  problem: string | null;
  lines: AuditLine[];
}

/**
 * The sign-in of a server.
 *
 * `open_url` is where a person has to go now, at `site`; `issuers` are those to choose from;
 * `paused` is the step that waits to be let go, with its `draft`. `has_person` says that somebody
 * signs in, rather than a machine with its own credentials.
 */
export interface AuthView {
  runs: SignInRunView[];
  is_running: boolean;
  open_url: string | null;
  site: string | null;
  scopes: string[];
  issuers: string[];
  paused: string | null;
  draft: SignInDraftView | null;
  kept: KeptSignInView | null;
  registration: RegistrationView | null;
  has_person: boolean;
}

/**
 * Let a testing profile answer; `auto` is one that knows what to do with any question.
 *
 * Its answer is checked like a person's, and the question stays open if it is not sent.
 * `options`: `tool_choice` (auto, none, required, specific) in place of the server's, `tool` for
 * specific, `force`.
 */
export interface AutoRespond {
  type: "AutoRespond";
  id: number;
  question_id: string;
  profile: string;
  options?: Record<string, unknown>;
}

/**
 * The folders within a folder; the home folder if none is named.
 *
 * `is_start` begins at the nearest folder that there is, whatever was typed.
 */
export interface BrowseFolder {
  type: "BrowseFolder";
  id: number;
  path?: string | null;
  is_start?: boolean;
}

/**
 * Call a tool. What breaks its input schema is refused (`details.findings`) unless
 * `send_anyway`; so is `as_task` where the server or the tool knows no tasks. In 2026-07-28 the
 * server alone decides what becomes a task. `listed_as` is how the page tells items of one name
 * apart; here it is only kept.
 */
export interface CallTool {
  type: "CallTool";
  id: number;
  server_id: string;
  name: string;
  listed_as?: string;
  arguments?: unknown;
  meta?: Record<string, unknown>;
  headers?: Record<string, string>;
  timeout_s?: number | null;
  as_task?: boolean;
  send_anyway?: boolean;
}

/**
 * A call made in the web UI, running or ended.
 *
 * `result` is there once it is completed and small. Null beside a `result_size_bytes` means that
 * it is at `/api/calls/{call_id}/result`.
 * `elapsed_s` is how long it took, None while it runs. `awaiting` are the URLs
 * that a person agreed to open and that are not done yet.
 * `headers` are those that it was given, the value of a secret one empty; they and `timeout_s`
 * are for this call alone. A timeout of 0 means no limit. `is_forced`: its arguments were not
 * checked before it was sent. `listed_as` is what the page lists the
 * called item as, where several have its name. `schema_verdict` is what the findings say of the
 * tool's output schema. `tool_error` is what a tool that failed said to a
 * raw message or a request by its method. `error` is why there is no result, and of a raw message
 * the JSON-RPC error that it was answered with.
 */
export interface CallView {
  call_id: string;
  server_id: string;
  kind: "prompt" | "raw" | "request" | "resource" | "tool";
  method: string;
  name: string;
  listed_as: string;
  request: unknown;
  headers: Record<string, string>;
  timeout_s: number | null;
  is_forced: boolean;
  request_id: number | string | null;
  request_ids: (number | string)[];
  request_seqs: number[];
  status: CallStatus;
  started: number;
  elapsed_s: number | null;
  progress: ProgressView | null;
  is_waiting_on_user: boolean;
  awaiting: LinkView[];
  result: unknown;
  result_size_bytes: number;
  is_error: boolean;
  tool_error: string | null;
  findings: string[];
  schema_verdict: "broken" | "unused" | null;
  error: ErrorView | null;
  task_id: string | null;
}

/**
 * Cancel a call, on the server too.
 */
export interface CancelCall {
  type: "CancelCall";
  id: number;
  call_id: string;
}

/**
 * End the sign-in that goes on; a server that is being connected is not any more.
 */
export interface CancelSignIn {
  type: "CancelSignIn";
  id: number;
  server_id: string;
}

/**
 * `role` says whose task it is: one that the server runs, or one that we hold.
 */
export interface CancelTask {
  type: "CancelTask";
  id: number;
  server_id: string;
  task_id: string;
  role?: "client" | "receiver";
}

/**
 * Put the tap into the entry of a server in another tool's file, or take it out.
 *
 * `path` and `scope` are those of the server's source, as FoundServers gave it. Without
 * `is_written` nothing is written: the reply shows what would change.
 */
export interface ChangeTap {
  type: "ChangeTap";
  id: number;
  kind: string;
  path: string;
  scope: string;
  name: string;
  is_install: boolean;
  is_written?: boolean;
}

/**
 * One change of a definition, by a rule of `mcplens diff`.
 */
export interface ChangeView {
  change_class: "additive" | "breaking" | "cosmetic" | "risky";
  rule: string;
  pointer: string;
  message: string;
}

/**
 * The latest view of one object; `value` is None for one that is gone.
 *
 * `what` says which: ServerView, CallView, QuestionView, TaskView, ListSummary, SettingView,
 * RecordingView, CollectionRunView, RunInfoView (of another process), GatewayView. `key` is its id
 * (for lists, the kind; for the recording and the gateway, nothing).
 */
export interface Changed {
  type: "Changed";
  what: ObjectKind;
  key: string;
  server_id: string;
  value: unknown;
}

/**
 * Ask whether texts match patterns; at most 100 at a time.
 */
export interface CheckPatterns {
  type: "CheckPatterns";
  id: number;
  checks: PatternCheck[];
}

/**
 * Read one file of a skill, by its path or URI, and verify it.
 */
export interface CheckSkillFile {
  type: "CheckSkillFile";
  id: number;
  server_id: string;
  uri: string;
  path?: string;
}

/**
 * One check: what was tried, what came, how long it took, and output that shows it.
 */
export interface CheckView {
  name: string;
  title: string;
  state: "failed" | "ok" | "warning";
  tried: string;
  came: string;
  elapsed_s: number | null;
  lines: string[];
}

/**
 * The authorization server to sign in at, where there are several.
 */
export interface ChooseIssuer {
  type: "ChooseIssuer";
  id: number;
  server_id: string;
  issuer: string;
}

/**
 * A definition as the page showed it.
 */
export interface ChosenDefinition {
  view: string;
  kind: string;
  server_id: string;
  name: string;
  sha256: string;
}

/**
 * A file of saved calls; `key` names it in commands. `problem` says why it cannot be read.
 */
export interface CollectionFileView {
  key: string;
  path: string;
  folder: string;
  name: string;
  is_given: boolean;
  count: number;
  problem: string | null;
}

/**
 * All collections; `path` is the folder that new ones are written to.
 */
export interface CollectionListView {
  path: string;
  folders: string[];
  files: CollectionFileView[];
}

/**
 * A run of a collection; `elapsed_s` is None while it runs.
 */
export interface CollectionRunView {
  collection_run_id: string;
  key: string;
  digest: string;
  started: number;
  elapsed_s: number | null;
  is_stopping: boolean;
  rows: RunRowView[];
}

/**
 * The content of a file. `problem` (at `line`) says why it is not a collection. One that is not
 * confirmed came from elsewhere: a person confirms its servers and variables first.
 */
export interface CollectionView {
  key: string;
  path: string;
  folder: string;
  name: string;
  is_given: boolean;
  description: string;
  server_id: string | null;
  digest: string;
  text: string;
  problem: string | null;
  line: number | null;
  is_confirmed: boolean;
  steps: StepView[];
  servers: string[];
  variables: VariableView[];
}

/**
 * The answer to a command; its value is what the command's function returns.
 */
export interface CommandReply {
  type: "CommandReply";
  id: number;
  value: unknown;
}

/**
 * Compare a folder on this computer with what the server serves: what is missing, and why.
 */
export interface CompareSkillFolder {
  type: "CompareSkillFolder";
  id: number;
  server_id: string;
  path: string;
}

/**
 * Suggestions for an argument of a prompt or template.
 */
export interface Complete {
  type: "Complete";
  id: number;
  server_id: string;
  ref: Record<string, string>;
  argument: string;
  value: string;
  context?: Record<string, string>;
}

/**
 * Suggestions for an argument.
 */
export interface CompletionView {
  values: string[];
  total: number | null;
  has_more: boolean;
}

/**
 * A person has seen what it starts, which has this fingerprint, and wants it started.
 */
export interface Confirm {
  type: "Confirm";
  id: number;
  server_id: string;
  fingerprint: string;
}

/**
 * A person has seen the servers and variables of the content with this digest.
 */
export interface ConfirmCollection {
  type: "ConfirmCollection";
  id: number;
  key: string;
  digest: string;
}

/**
 * All that decides what a server that was not confirmed would do.
 */
export interface ConfirmationOf {
  type: "ConfirmationOf";
  id: number;
  server_id: string;
}

/**
 * What a person is shown before a server that came from elsewhere is first started.
 *
 * `others` are what else its entry says of what it may see, as JSON. `variables` are those of the
 * user's environment that it would be given or send, `files` those that are read to sign in.
 */
export interface ConfirmationView {
  command: string[] | null;
  url: string | null;
  cwd: string | null;
  env: PairView[];
  headers: PairView[];
  others: PairView[];
  variables: string[];
  files: string[];
  fingerprint: string;
}

/**
 * Connect, or connect again. Replied to at once; what follows is Changed.
 */
export interface Connect {
  type: "Connect";
  id: number;
  server_id: string;
}

/**
 * Let the step that waits begin, with what was changed; `at_once` does not wait again.
 */
export interface ContinueSignIn {
  type: "ContinueSignIn";
  id: number;
  server_id: string;
  at_once?: boolean;
  scopes?: string | null;
  client_id?: string | null;
  redirect_uri?: string | null;
  resource?: string | null;
}

/**
 * A new, empty file; `folder` is like `billing/refunds`, or empty.
 */
export interface CreateCollection {
  type: "CreateCollection";
  id: number;
  folder: string;
  name: string;
}

/**
 * Delete a file; the reply is the path of the backup that is left.
 */
export interface DeleteCollection {
  type: "DeleteCollection";
  id: number;
  key: string;
  digest: string;
}

export interface DeleteSavedCall {
  type: "DeleteSavedCall";
  id: number;
  key: string;
  digest: string;
  index: number;
}

/**
 * The checks in the order in which things fail, one sentence, and one command.
 */
export interface DiagnosisView {
  server_id: string;
  is_healthy: boolean;
  checks: CheckView[];
  conclusion: string;
  command: string;
}

/**
 * A direct child of a folder that a server listed.
 */
export interface DirectoryEntry {
  uri: string;
  name: string;
  is_directory: boolean;
  mime_type: string | null;
  size: number | null;
}

/**
 * Disconnect, or stop connecting. Replied to when it is done.
 */
export interface Disconnect {
  type: "Disconnect";
  id: number;
  server_id: string;
}

/**
 * The skills of a folder on this computer beside those of the server; `cut` as in the list.
 */
export interface DiskComparison {
  verdicts: FolderVerdict[];
  cut: string | null;
}

/**
 * A domain that the resource declares; `refusal` says why it is not in the policy.
 */
export interface DomainView {
  key: string;
  value: string;
  refusal: string | null;
}

/**
 * Change a saved call; `arguments` is JSON text with placeholders as the file has them. An
 * empty `server_id` means the one of the whole file.
 */
export interface EditSavedCall {
  type: "EditSavedCall";
  id: number;
  key: string;
  digest: string;
  index: number;
  name: string;
  description: string;
  server_id: string;
  kind: "call" | "prompt" | "read" | "request";
  target: string;
  arguments: string;
}

/**
 * One request for a plot.
 */
export interface EndedRequestView {
  method: string;
  elapsed_s: number;
  is_failed: boolean;
}

/**
 * A server's entry as its file has it, for a form; secrets are masked, and `secrets` says
 * which these are.
 *
 * A masked value that comes back unchanged means: as it was.
 */
export interface EntryView {
  raw: Record<string, unknown>;
  secrets: SecretPlace[];
}

/**
 * What went wrong, as InspectorError.to_dict() says it, and the address of its help page.
 */
export interface ErrorView {
  code: string;
  message: string;
  category: "cancelled" | "connection" | "protocol" | "server" | "timeout" | "transport";
  retryable: boolean;
  details: Record<string, unknown>;
  helpUrl: string;
}

/**
 * Events of the recording; go on with `after` (or `before`) the last one if `has_more`.
 */
export interface EventPage {
  events: EventView[];
  has_more: boolean;
}

/**
 * One event, live or recorded, as a row shows it.
 *
 * `kind` is the event's type (docs/reference/events.md). `head` is how the bytes of its message
 * (without `_meta`) or body begin, `detail` its other fields. `is_cut` says that `detail`, or the
 * line of stderr, lacks what was too large. `is_error` is said by a result: a tool that ran and
 * failed. `is_expected` is an error that is no fault: a server of an older revision does not know
 * server/discover, which is how mcplens finds out.
 *
 * The links are those of the event: the HTTP exchange that carried it, the frame of the request
 * that it belongs to, that of the request which caused it, the call and its purpose. They are null
 * where the event has none, and in recordings of versions that did not write them.
 */
export interface EventView {
  run_id: string;
  seq: number;
  wall: number;
  mono: number;
  server_id: string;
  kind: string;
  method: string | null;
  request_id: number | string | null;
  status: string | number | null;
  size_bytes: number;
  head: string;
  malformed: string | null;
  detail: Record<string, unknown>;
  is_cut: boolean;
  is_error: boolean;
  exchange_id: number | null;
  request_seq: number | null;
  caused_by_seq: number | null;
  is_inferred: boolean;
  call_id: string | null;
  purpose: string | null;
  is_expected: boolean;
}

/**
 * Events, in order, collected over a few milliseconds.
 */
export interface Events {
  type: "Events";
  first_seq: number;
  last_seq: number;
  events: EventView[];
}

/**
 * The bytes of one event as they came, in base64; in no other view.
 */
export interface ExactBytesView {
  base64: string;
}

/**
 * Check a server step by step, over a connection of its own that is not recorded.
 */
export interface Examine {
  type: "Examine";
  id: number;
  server_id: string;
}

/**
 * An object that a schema describes; empty if it describes none.
 */
export interface ExampleArguments {
  arguments: unknown;
}

/**
 * How the process of a stdio server ended.
 */
export interface ExitView {
  pid: number;
  exit_code: number | null;
  signal: string | null;
  at: number;
  stopped_after_s: number | null;
}

/**
 * What an export lacks of one server, or changes in its meaning.
 */
export interface ExportRemarkView {
  server: string;
  text: string;
}

/**
 * Servers in some shape, what that shape cannot say of them, and how many values in it look
 * like secrets.
 */
export interface ExportView {
  text: string;
  remarks: ExportRemarkView[];
  secret_count: number;
}

/**
 * A command that could not be carried out.
 */
export interface Failure {
  type: "Failure";
  id: number;
  error: ErrorView;
}

/**
 * What came of one file, or of an entry that could not be used at all.
 */
export interface FileVerdict {
  skill: string;
  uri: string;
  path: string;
  status: "broken" | "failed" | "mismatch" | "not-read" | "unverifiable" | "verified";
  expected_size: number | null;
  expected_digest: string | null;
  size: number | null;
  digest: string | null;
  findings: SkillFinding[];
}

/**
 * The arguments of a saved call with its variables filled in, as JSON text, for a form.
 *
 * A failure with `details.variable` says that this one is not set.
 */
export interface FillSavedCall {
  type: "FillSavedCall";
  id: number;
  key: string;
  digest: string;
  index: number;
}

/**
 * How one skill stands on the disk and on the server.
 */
export interface FolderVerdict {
  name: string;
  status: "differs" | "missing" | "only-served" | "same" | "unknown" | "unlisted";
  path: string | null;
  uri: string | null;
  findings: SkillFinding[];
}

/**
 * A folder of this computer, for choosing a root.
 */
export interface FolderView {
  path: string;
  uri: string;
  parent: string | null;
  folders: string[];
  is_cut: boolean;
}

/**
 * Forget the client that was registered; the next sign-in registers anew.
 */
export interface ForgetRegistration {
  type: "ForgetRegistration";
  id: number;
  server_id: string;
}

/**
 * Delete what is recorded of a run; of this one, all up to now. Pins are kept.
 */
export interface ForgetRun {
  type: "ForgetRun";
  id: number;
  run_id: string;
}

/**
 * What is wrong with one key of a server, or is missing on this computer (`is_local`).
 */
export interface FoundProblem {
  key: string;
  text: string;
  is_local: boolean;
  variable: string | null;
}

/**
 * What other tools on this computer have.
 */
export interface FoundServers {
  type: "FoundServers";
  id: number;
}

/**
 * A server that another tool has, or that a file or a pasted text names; not ours yet.
 *
 * `choices` are the ways to a registry's server (`npm`, `remote`), `choice` the one taken.
 * Where there is an `offer_id`, the secrets in `raw` are masked. What is only missing on this
 * computer does not prevent adding it: `can_be_added`. `tap` says whether another tool's entry has
 * the tap, can get it, or is reached by a URL; None for a file that is not another tool's.
 */
export interface FoundView {
  name: string;
  source: SourceView;
  transport: string | null;
  shown: string;
  command: string[] | null;
  raw: Record<string, unknown>;
  inputs: InputView[];
  remarks: string[];
  problem: ErrorView | null;
  problems: FoundProblem[];
  can_be_added: boolean;
  is_known: boolean;
  choices: string[];
  choice: string | null;
  offer_id: string | null;
  tap: "by_url" | "installed" | "offered" | null;
}

/**
 * The newest lines of the audit log.
 */
export interface GatewayAudit {
  type: "GatewayAudit";
  id: number;
  count?: number;
}

/**
 * A client of the gateway. One without a session (2026-07-28) was last seen at `last_at`.
 *
 * `client_id` is null for those: requests of the same name and caller at the same path are counted
 * together. `caller` is the name of the token or the subject of the user, "" if unknown.
 */
export interface GatewayClientView {
  client_id: string | null;
  name: string;
  version: string | null;
  protocol_version: string | null;
  path: string;
  transport: string;
  since: number;
  last_at: number;
  in_flight: number;
  calls: number;
  errors: number;
  caller: string;
}

/**
 * The entry for each client; the token is masked unless `is_revealed`.
 */
export interface GatewayEntries {
  type: "GatewayEntries";
  id: number;
  path?: string;
  is_revealed?: boolean;
}

/**
 * The gateway as a client's configuration has it, and the command that writes it there.
 *
 * `command` is null where the port is not fixed: the entry would be wrong after a restart.
 */
export interface GatewayEntryView {
  client: string;
  title: string;
  text: string;
  command: string | null;
}

/**
 * A limit: `most` is null where there is none, `used` where nothing is counted.
 *
 * `by` is the client or server that is nearest to it. One that `is_set` is in the configuration.
 */
export interface GatewayLimitView {
  name: string;
  most: number | null;
  used: number | null;
  by: string | null;
  is_set: boolean;
}

/**
 * A server behind the gateway: what it publishes, and how often it was called.
 *
 * `singleton` is there where replicas share a store and the server may run on one of them only.
 */
export interface GatewayServerView {
  server_id: string;
  status: string;
  since: number;
  error: string | null;
  retry_at: number | null;
  is_paused: boolean;
  is_loop: boolean;
  tools: number;
  prompts: number;
  resources: number;
  is_stale: boolean;
  calls: number;
  failed: number;
  singleton: SingletonView | null;
}

/**
 * The bearer token that opens a path of the gateway; null if none is asked for.
 */
export interface GatewayToken {
  type: "GatewayToken";
  id: number;
  path?: string;
}

/**
 * The gateway of this process.
 *
 * One that `is_permanent` is on for as long as the process runs. `url` is null while it is off,
 * and where it serves the program that started it. `revision` is another one when what the views
 * publish may have changed. `problem` says why a newer configuration is not used. `waiting` counts
 * what waits for approval; it is null where no view wants one. `replicas` is null where there is
 * no store that replicas share. `has_user_sign_ins` where users sign in to servers themselves.
 */
export interface GatewayView {
  is_on: boolean;
  is_permanent: boolean;
  is_draining: boolean;
  since: number | null;
  url: string | null;
  has_token: boolean;
  listen: string;
  problem: ErrorView | null;
  revision: number;
  waiting: number | null;
  in_flight: number;
  clients: GatewayClientView[];
  servers: GatewayServerView[];
  limits: GatewayLimitView[];
  replicas: ReplicaStatus | null;
  has_user_sign_ins: boolean;
}

export interface GetPrompt {
  type: "GetPrompt";
  id: number;
  server_id: string;
  name: string;
  listed_as?: string;
  arguments?: Record<string, string>;
  meta?: Record<string, unknown>;
  timeout_s?: number | null;
}

/**
 * The entry of one skill, fetched now and compared with that of the list.
 */
export interface GetSkill {
  type: "GetSkill";
  id: number;
  server_id: string;
  uri: string;
}

/**
 * A call that waits for a task to end, and has its result.
 */
export interface GetTaskResult {
  type: "GetTaskResult";
  id: number;
  server_id: string;
  task_id: string;
  role?: "client" | "receiver";
}

/**
 * A snapshot of the current state; answers Resume. Events after `after_seq` follow.
 *
 * `seq` is the newest event. `is_resumed` is False for a page of another run.
 */
export interface Hello {
  type: "Hello";
  id: number;
  run_id: string;
  version: string;
  seq: number;
  after_seq: number;
  is_resumed: boolean;
  recording_problem: string | null;
  first_server_id: string | null;
  servers: ServerView[];
  calls: CallView[];
  questions: QuestionView[];
  tasks: TaskView[];
  profiles: ProfileView[];
  settings: SettingView[];
  collection_runs: CollectionRunView[];
  runs: RunInfoView[];
  gateway: GatewayView;
}

/**
 * Something that a reader does not see.
 */
export interface HiddenPart {
  kind: string;
  line: number;
  column: number;
  text: string;
}

/**
 * Something that a view does not show, and why.
 */
export interface HiddenView {
  kind: string;
  server_id: string;
  name: string;
  reason: string;
}

/**
 * The hosts that apps can be tried in, beside those that are built in.
 */
export interface HostProfiles {
  type: "HostProfiles";
  id: number;
}

/**
 * The host profiles of the configuration files, as they are written there.
 */
export interface HostProfilesView {
  profiles: Record<string, unknown>;
}

/**
 * What the import of a trace did; `broken` has the first of the lines that were left out.
 */
export interface ImportedView {
  run_ids: string[];
  event_count: number;
  known_count: number;
  broken: string[];
  broken_count: number;
}

/**
 * A value that a person must supply before a server can be used.
 */
export interface InputView {
  id: string;
  variable: string;
  description: string;
  default: string | null;
  choices: string[];
  is_secret: boolean;
  is_required: boolean;
}

/**
 * A tool, resource, template or prompt as the server sent it, and what is wrong with it.
 */
export interface ItemView {
  value: unknown;
  problem: string | null;
}

/**
 * A sign-in that is kept. `issuer` is null for a token that a person pasted.
 */
export interface KeptSignInView {
  issuer: string | null;
  resource: string;
  client_id: string | null;
  client_origin: string | null;
  requested: string[];
  granted: string[];
  token_type: string;
  token: string;
  refresh_token: string | null;
  expires_at: number | null;
  is_revocable: boolean;
}

/**
 * A replica as this one sees it; `since` is when it started, or when it was found to be gone.
 *
 * `differs_in` has the parts of its configuration that are not as here, by their names in the
 * file; it is empty, too, where a replica of another version does not tell them.
 */
export interface KnownReplica {
  id: string;
  name: string;
  address: string;
  version: string;
  state: "gone" | "leaving" | "serving";
  since: number;
  configuration: string;
  has_same_configuration: boolean;
  differs_in: string[];
}

/**
 * The newest request that failed; `request_seq` leads to it in Traffic.
 */
export interface LastErrorView {
  at: number;
  method: string;
  message: string;
  request_seq: number | null;
}

/**
 * A URL that a person is asked to open: where a browser would really go, and what is odd.
 *
 * One that is not `is_openable` must not be handed to a browser.
 */
export interface LinkView {
  url: string;
  host: string;
  warnings: string[];
  is_openable: boolean;
}

/**
 * A list; the kept one unless `refresh`. Fetched to its end, or with `one_page` only the first.
 *
 * Without `after` the reply comes when all is there. With it the reply has at most `most` items
 * from this one on, as soon as there are any; `of` is the `fetched` of the reply that had those
 * before (0: none). Items of another fetch begin at 0 again. `StopList` ends a fetch.
 */
export interface List {
  type: "List";
  id: number;
  server_id: string;
  kind: ListKind;
  refresh?: boolean;
  one_page?: boolean;
  after?: number | null;
  of?: number;
  most?: number;
}

/**
 * What a server changed in a list, told from the one before; `changed` items have other JSON.
 *
 * `at` is when the list came that had the change; it is kept by those that are the same.
 */
export interface ListChangeView {
  at: number;
  added: NamesView;
  removed: NamesView;
  changed: NamesView;
}

/**
 * All files with saved calls.
 */
export interface ListCollections {
  type: "ListCollections";
  id: number;
}

/**
 * All pins, of this run and of others.
 */
export interface ListPins {
  type: "ListPins";
  id: number;
}

/**
 * The saved calls of a tool in all collections.
 */
export interface ListSavedCalls {
  type: "ListSavedCalls";
  id: number;
  server_id: string;
  tool: string;
}

/**
 * The skills of a server; the kept list unless `refresh`.
 */
export interface ListSkills {
  type: "ListSkills";
  id: number;
  server_id: string;
  refresh?: boolean;
}

/**
 * Where a list stands; ask for its items with `List`.
 *
 * `pages` counts what it came in; `next_cursor` says that the server has more; `asked` is since
 * when a page is waited for, `awaited` which one; `fetched` is 0 before any came. `has_apps` says
 * that a tool among them has an app.
 */
export interface ListSummary {
  kind: ListKind;
  count: number;
  fetched: number;
  is_changed: boolean;
  error: ErrorView | null;
  pages: number;
  next_cursor: string | null;
  asked: number | null;
  awaited: number;
  has_apps: boolean;
}

/**
 * The tasks of both roles; the server is asked for its own where it can be.
 */
export interface ListTasks {
  type: "ListTasks";
  id: number;
  server_id: string;
}

/**
 * Items of a list from `start` on; ask for those after them unless `is_complete`.
 *
 * `next_cursor` says that the server has more than was fetched; `dropped` are tools that must not
 * be offered to a model. `change` is there where the server changed the list that was there.
 */
export interface ListView {
  server_id: string;
  kind: ListKind;
  start: number;
  items: ItemView[];
  fetched: number;
  next_cursor: string | null;
  is_complete: boolean;
  dropped: ItemView[];
  change: ListChangeView | null;
}

/**
 * Read what is kept of a server's sign-in; null if it has none.
 */
export interface LookAtAuth {
  type: "LookAtAuth";
  id: number;
  server_id: string;
}

/**
 * Ask for arguments that fit a JSON Schema: its own examples and defaults, else made up.
 */
export interface MakeExample {
  type: "MakeExample";
  id: number;
  schema: unknown;
}

/**
 * Which events of a run hold a text, in order; all up to `last_seq` were looked at.
 *
 * `is_cut` says that there are older ones that are not told.
 */
export interface MatchesView {
  seqs: number[];
  last_seq: number;
  is_cut: boolean;
}

/**
 * This page was too slow for these events; the recording has them.
 */
export interface Missed {
  type: "Missed";
  first_seq: number;
  last_seq: number;
}

/**
 * Fetch what comes after the last page that came: all, or one page. `List` has it then.
 */
export interface MoreOfList {
  type: "MoreOfList";
  id: number;
  server_id: string;
  kind: ListKind;
  one_page?: boolean;
}

/**
 * How many items, and the first of them by name.
 */
export interface NamesView {
  count: number;
  names: string[];
}

/**
 * Read the app of a tool, and keep its document so that it can be framed.
 *
 * Fails with the reason where there is no app to show. `allows_private` lets it reach private
 * addresses that it declares.
 */
export interface OpenApp {
  type: "OpenApp";
  id: number;
  server_id: string;
  tool: string;
  profile?: "reference" | "specification";
  allows_private?: boolean;
}

/**
 * A variable or header as a file has it; the page shows a secret only on request.
 */
export interface PairView {
  name: string;
  value: string;
  is_secret: boolean;
}

/**
 * A pasted command line or URL as an entry.
 */
export interface ParseTarget {
  type: "ParseTarget";
  id: number;
  text: string;
}

/**
 * The address that the browser was sent to after a sign-in, where it could not be opened.
 */
export interface PasteRedirect {
  type: "PasteRedirect";
  id: number;
  server_id: string;
  url: string;
}

/**
 * A pattern of a schema, and a text that it is for.
 */
export interface PatternCheck {
  pattern: string;
  text: string;
}

/**
 * Whether each text matches its pattern, in the order of the question.
 */
export interface PatternVerdicts {
  verdicts: ("differs" | "matches" | "too_slow" | "unusable")[];
}

/**
 * Keep an event, under a label; one that is pinned gets the new label.
 */
export interface Pin {
  type: "Pin";
  id: number;
  run_id: string;
  seq: number;
  label?: string;
}

/**
 * A pinned event; it is kept when its run is deleted.
 */
export interface PinView {
  label: string;
  pinned: number;
  event: EventView;
}

export interface Ping {
  type: "Ping";
  id: number;
  server_id: string;
}

export interface PingView {
  latency_s: number;
}

/**
 * What must be settled before these steps can be run (null: all of them). Connects their
 * servers, if nothing else is left to ask.
 */
export interface PlanRun {
  type: "PlanRun";
  id: number;
  key: string;
  digest: string;
  steps?: number[] | null;
}

/**
 * A named way to answer without a person; `problem` says why it cannot be used.
 */
export interface ProfileView {
  name: string;
  kind: string;
  is_built_in: boolean;
  problem: string | null;
}

export interface ProgressView {
  progress: number;
  total: number | null;
  message: string | null;
  at: number;
}

/**
 * A view at its path. The one without a name shows everything.
 *
 * `hidden` has the first of what it does not show, `hidden_count` counts all; `problems` says
 * which names collided or were left out.
 */
export interface PublishedView {
  name: string;
  path: string;
  url: string | null;
  has_own_token: boolean;
  tools: number;
  prompts: number;
  resources: number;
  hidden: HiddenView[];
  hidden_count: number;
  problems: string[];
}

/**
 * What each view publishes and hides.
 */
export interface PublishedViews {
  type: "PublishedViews";
  id: number;
}

/**
 * What a server asks or asked: it waits, or `is_done` with an `outcome`.
 *
 * `server_name` is how the server calls itself, `server_id` how the user does. `number` of
 * `count` is its place among those that wait for the same call. `origin` says how it came: as a
 * `request`, as a `task` that we hold, as `input_required` (in round `round` of `most_rounds`),
 * with the `error` -32042, or from an `app` of the server. `answering_by` is a profile that is at
 * work on it.
 */
export interface QuestionView {
  question_id: string;
  server_id: string;
  server_name: string | null;
  method: string;
  mode: string | null;
  params: unknown;
  request_id: number | string | null;
  request_seq: number | null;
  caused_by_seq: number | null;
  is_inferred: boolean;
  call_id: string | null;
  number: number;
  count: number;
  origin: string;
  round: number | null;
  most_rounds: number | null;
  task_id: string | null;
  link: LinkView | null;
  opened: number;
  deadline: number | null;
  profile: string | null;
  answering_by: string | null;
  answered_by: string | null;
  is_done: boolean;
  outcome: string | null;
}

/**
 * How many requests are in each state.
 */
export interface QueueView {
  pending: number;
  in_progress: number;
  completed: number;
  failed: number;
  cancelled: number;
}

export interface ReadResource {
  type: "ReadResource";
  id: number;
  server_id: string;
  uri: string;
  listed_as?: string;
  meta?: Record<string, unknown>;
  timeout_s?: number | null;
}

/**
 * List the folders of a skill, for servers that declare `directoryRead`.
 */
export interface ReadSkillFolder {
  type: "ReadSkillFolder";
  id: number;
  server_id: string;
  uri: string;
}

/**
 * Put a message between an app and the page into Traffic; `refusal` says why it was refused.
 */
export interface RecordAppMessage {
  type: "RecordAppMessage";
  id: number;
  app_id: string;
  side: "app" | "host";
  text: string;
  refusal?: string | null;
}

/**
 * Why recording does not work, or stopped working; null while it works.
 */
export interface RecordingView {
  problem: string | null;
}

/**
 * Use the refresh token now.
 */
export interface RefreshToken {
  type: "RefreshToken";
  id: number;
  server_id: string;
}

/**
 * What mcplens is registered as with an authorization server.
 */
export interface RegistrationView {
  issuer: string;
  client_id: string;
  redirect_uri: string | null;
}

/**
 * Refuse to answer, with the reason that is sent to the server.
 */
export interface RejectQuestion {
  type: "RejectQuestion";
  id: number;
  question_id: string;
  reason?: string;
}

export interface RemoveRoot {
  type: "RemoveRoot";
  id: number;
  server_id: string;
  uri: string;
  save?: boolean;
}

/**
 * Another name, or another folder.
 */
export interface RenameCollection {
  type: "RenameCollection";
  id: number;
  key: string;
  digest: string;
  folder: string;
  name: string;
}

/**
 * Make a call again, as it was made: its arguments, its `_meta`, headers, timeout and task.
 */
export interface RepeatCall {
  type: "RepeatCall";
  id: number;
  call_id: string;
}

/**
 * Send a recorded request again, with a new id: from this run, or from `run_id`.
 */
export interface ReplayCall {
  type: "ReplayCall";
  id: number;
  seq: number;
  run_id?: string | null;
  server_id?: string | null;
}

/**
 * The replicas of a gateway, and whether they count calls together now.
 *
 * While the store is not `up`, `others` are those that were last seen.
 */
export interface ReplicaStatus {
  store: SharedStore;
  this: KnownReplica;
  others: KnownReplica[];
  gone: KnownReplica[];
  are_limits_shared: boolean;
}

/**
 * Any method with any params.
 */
export interface Request {
  type: "Request";
  id: number;
  server_id: string;
  method: string;
  params?: unknown;
  headers?: Record<string, string>;
  timeout_s?: number | null;
}

/**
 * Carry out what an app asks of its server: tools/call, resources/read, or a list.
 *
 * `sampling/createMessage` opens a question, answered as those of the server are. The reply is
 * the JSON-RPC answer; both messages are put into Traffic. A tool that is not for apps, and a
 * method that is not for servers, are refused with the reason.
 */
export interface RequestForApp {
  type: "RequestForApp";
  id: number;
  app_id: string;
  text: string;
}

/**
 * The first command: where the page left off, if it did.
 *
 * Answered by Hello. Events after `seq` follow, if `run_id` is of this run; else the newest.
 */
export interface Resume {
  type: "Resume";
  id: number;
  run_id?: string | null;
  seq?: number | null;
}

/**
 * Which attempt comes next, and when; `at` is None while it is being made.
 */
export interface RetryView {
  count: number;
  most: number | null;
  at: number | null;
}

/**
 * The bytes of an event of this run, without masks. The page asks the person first.
 */
export interface RevealBytes {
  type: "RevealBytes";
  id: number;
  run_id: string;
  seq: number;
}

/**
 * The value of a secret that ServerEntryOf masked. The page asks the person first.
 */
export interface RevealSecret {
  type: "RevealSecret";
  id: number;
  server_id: string;
  key: string;
  name: string;
}

/**
 * What the token says; with `is_whole` the tokens themselves too.
 */
export interface RevealToken {
  type: "RevealToken";
  id: number;
  server_id: string;
  is_whole?: boolean;
}

/**
 * A folder that is named to the server.
 */
export interface RootView {
  uri: string;
  name: string | null;
}

/**
 * Run steps one after the other (null: all of them); the reply comes when it has started.
 */
export interface RunCollection {
  type: "RunCollection";
  id: number;
  key: string;
  digest: string;
  steps?: number[] | null;
  may_change?: boolean;
  stops_at_failure?: boolean;
}

/**
 * What a run says about its session.
 */
export interface RunInfo {
  type: "RunInfo";
  id: number;
  run_id: string;
}

/**
 * One run, and what its events say about its session.
 *
 * `problem_count` counts messages that are malformed or answer no request. `client` is null for a
 * run of mcplens itself.
 */
export interface RunInfoView {
  run: RunView;
  client: SideView | null;
  server: SideView | null;
  era: string | null;
  protocol_version: string | null;
  message_count: number;
  problem_count: number;
  waiting: WaitingRequestView[];
}

export interface RunPage {
  runs: RunView[];
  has_more: boolean;
}

/**
 * What must be settled before a run, in this order; empty if it can start.
 */
export interface RunPlanView {
  needs_confirmation: boolean;
  unset: VariableView[];
  changing: string[];
}

/**
 * One step of a run; `text` is the beginning of its result, or what went wrong.
 */
export interface RunRowView {
  index: number;
  name: string;
  server_id: string | null;
  target: string;
  status: "cancelled" | "done" | "error" | "running" | "skipped" | "waiting";
  call_id: string | null;
  elapsed_s: number | null;
  size_bytes: number;
  text: string;
}

/**
 * One run of mcplens that was recorded; `client` is the name of a tapped client.
 *
 * `message_count` is null where counting would mean reading too much; then there are no errors
 * and no names of what was called either.
 */
export interface RunView {
  run_id: string;
  started: number;
  ended: number | null;
  title: string;
  version: string;
  servers: string[];
  event_count: number;
  size_bytes: number;
  last_seq: number;
  is_live: boolean;
  client: string | null;
  message_count: number | null;
  error_count: number;
  called: string[];
}

/**
 * Save a call to a collection, which is made if it does not exist. Secrets among the arguments
 * become `${NAME}`. A call that `is_test` is saved with its result, which `mcplens test` then
 * expects.
 */
export interface SaveCall {
  type: "SaveCall";
  id: number;
  call_id: string;
  key: string;
  name: string;
  description?: string;
  is_test?: boolean;
}

/**
 * Save a recorded request as a test that expects the recorded answer: of this run, or of
 * `run_id`.
 */
export interface SaveRecordedTest {
  type: "SaveRecordedTest";
  id: number;
  seq: number;
  run_id?: string | null;
  key: string;
  name: string;
  description?: string;
}

/**
 * A saved call of one tool. `arguments` is JSON text with `$${` as it was before it was saved,
 * or with placeholders if it `has_variables`; `result` is null if it was large or is not known.
 */
export interface SavedCallView {
  key: string;
  digest: string;
  index: number;
  name: string;
  description: string;
  collection: string;
  has_variables: boolean;
  saved: number | null;
  arguments: string;
  result: unknown;
}

/**
 * Where an entry has a secret: its key (`env`, `headers`, `secretKeys`), and the name in it.
 */
export interface SecretPlace {
  key: string;
  name: string;
}

/**
 * The value of one secret, for the one page that asked; in no other view.
 */
export interface SecretView {
  value: string;
}

/**
 * Bytes exactly as typed; `force` sends an id that is in flight.
 */
export interface SendRaw {
  type: "SendRaw";
  id: number;
  server_id: string;
  text?: string | null;
  base64?: string | null;
  headers?: Record<string, string>;
  timeout_s?: number | null;
  force?: boolean;
}

/**
 * Add a server to the user's file. `raw` is its entry; in a copy, masks stand for what the
 * original has, and `saved` says whose they are, as in ServerEdit.
 */
export interface ServerAdd {
  type: "ServerAdd";
  id: number;
  name: string;
  raw: Record<string, unknown>;
  copy_of?: string | null;
  saved?: Record<string, Record<string, string>>;
}

/**
 * Replace a server's entry, under a new name if one is given.
 *
 * `saved` has for masked values the name that they are saved under: by key of the entry, by name.
 */
export interface ServerEdit {
  type: "ServerEdit";
  id: number;
  server_id: string;
  raw: Record<string, unknown>;
  name?: string | null;
  saved?: Record<string, Record<string, string>>;
}

/**
 * What the file says of a server, for the form.
 */
export interface ServerEntryOf {
  type: "ServerEntryOf";
  id: number;
  server_id: string;
}

/**
 * Servers in our own or another tool's shape, or as commands for a shell; all, if none is
 * named.
 */
export interface ServerExport {
  type: "ServerExport";
  id: number;
  shape: "codex" | "mcpServers" | "mcplens" | "vscode" | "commands";
  servers?: string[];
}

/**
 * Add servers that FoundServers or ServerRead gave: name to entry.
 *
 * `offers` has the `offer_id` of those that had one: what is masked in them is as it was found.
 */
export interface ServerImport {
  type: "ServerImport";
  id: number;
  servers: Record<string, Record<string, unknown>>;
  replaces?: boolean;
  offers?: Record<string, string>;
}

/**
 * The servers of a pasted text or a file, in any tool's shape.
 *
 * `choice` is the way to a registry's server, `values` what a person filled in by input id.
 */
export interface ServerRead {
  type: "ServerRead";
  id: number;
  text?: string | null;
  file_name?: string | null;
  path?: string | null;
  choice?: string | null;
  values?: Record<string, string>;
}

/**
 * Take a server out of its file (or out of this page, if it is in none).
 */
export interface ServerRemove {
  type: "ServerRemove";
  id: number;
  server_id: string;
}

/**
 * One server: what is configured, how the connection stands, what the server said of itself.
 *
 * `client_capabilities` are declared from the next connection on, `declared_capabilities` were
 * by this one (null: not connected); `needs_reconnect` says that they differ, `is_outdated` that
 * the entry was changed in another way, or a setting, since this connection was made. `is_saved`
 * says that roots, profile and capabilities are as the file has them. `flags` are those of the
 * command line that apply to this server, without the values of headers and variables.
 */
export interface ServerView {
  server_id: string;
  title: string | null;
  source: SourceView;
  transport: string | null;
  shown: string;
  command: string[] | null;
  url: string | null;
  cwd: string | null;
  env_names: string[];
  header_names: string[];
  flags: string[];
  is_editable: boolean;
  is_removable: boolean;
  needs_confirmation: boolean;
  problem: ErrorView | null;
  remarks: string[];
  inputs: InputView[];
  state: State;
  since: number;
  waiting_for: string | null;
  error: ErrorView | null;
  retry: RetryView | null;
  latency_s: number | null;
  protocol_version: string | null;
  server_info: Record<string, unknown>;
  capabilities: Record<string, unknown>;
  client_capabilities: Record<string, unknown>;
  declared_capabilities: Record<string, unknown> | null;
  needs_reconnect: boolean;
  is_outdated: boolean;
  instructions: string | null;
  channel: Record<string, unknown>;
  exit: ExitView | null;
  stderr_tail: string[];
  stray_lines: string[];
  queue: QueueView;
  statistics: StatisticsView;
  lists: ListSummary[];
  subscriptions: SubscriptionView[];
  log_level: string | null;
  roots: RootView[];
  profile: string | null;
  is_saved: boolean;
  auth: AuthView | null;
}

/**
 * What is declared to this server from the next connection on, beside what was chosen before.
 *
 * Null takes a capability away; `reset` goes back to the file first, with profile and
 * roots. `save` writes it there.
 */
export interface SetCapabilities {
  type: "SetCapabilities";
  id: number;
  server_id: string;
  capabilities?: Record<string, unknown>;
  reset?: boolean;
  save?: boolean;
}

/**
 * The level from which the server logs.
 */
export interface SetLevel {
  type: "SetLevel";
  id: number;
  server_id: string;
  level: string;
}

/**
 * Which testing profile answers this server's questions; null means a person.
 */
export interface SetProfile {
  type: "SetProfile";
  id: number;
  server_id: string;
  profile?: string | null;
  save?: boolean;
}

/**
 * Null puts the default back.
 */
export interface SetSetting {
  type: "SetSetting";
  id: number;
  name: string;
  value?: unknown;
}

/**
 * Use and keep a bearer token, without any flow. SignOut removes it.
 */
export interface SetToken {
  type: "SetToken";
  id: number;
  server_id: string;
  token: string;
}

/**
 * Values that were typed, kept in memory until mcplens ends; null forgets one.
 */
export interface SetVariables {
  type: "SetVariables";
  id: number;
  values: Record<string, string | null>;
}

/**
 * A setting as the file spells it, its default, and where its value comes from.
 *
 * `source` is "default", or the file with the flag or variable behind it. `note` says
 * which server has a flag that overrides it. `choices` are all values that it takes, if there
 * are few.
 */
export interface SettingView {
  name: string;
  description: string;
  value: unknown;
  default: unknown;
  source: string;
  is_editable: boolean;
  note: string | null;
  choices: string[];
}

/**
 * The store that replicas share; `reason` says why it is not `up`.
 *
 * `last_problem` is what was wrong with it last, at `last_problem_at`; null if nothing was.
 */
export interface SharedStore {
  name: string;
  status: "down" | "full" | "up";
  since: number;
  reason: string | null;
  last_problem: string | null;
  last_problem_at: number | null;
}

/**
 * A file with its saved calls, as it is on the disk now.
 */
export interface ShowCollection {
  type: "ShowCollection";
  id: number;
  key: string;
}

/**
 * How a client or a server described itself; `info` has its name and version.
 */
export interface SideView {
  info: Record<string, unknown>;
  capabilities: Record<string, unknown>;
  instructions: string | null;
}

/**
 * What the step that waits is about to send, and may be changed.
 */
export interface SignInDraftView {
  client_id: string | null;
  redirect_uri: string | null;
  scopes: string[];
  resource: string | null;
}

/**
 * A sign-in, a refresh or a sign-out; `outcome` is null while it goes on.
 */
export interface SignInRunView {
  sign_in_id: string;
  reason: string;
  started: number;
  ended: number | null;
  outcome: string | null;
  steps: SignInStepView[];
  error: ErrorView | null;
}

/**
 * A step: what it is for, what was expected and what came, and the exchanges that carried it.
 *
 * `notes` are what came before the end, such as a place where nothing was.
 */
export interface SignInStepView {
  step: string;
  title: string;
  state: StepState;
  text: string;
  expected: string;
  facts: Record<string, unknown>;
  notes: string[];
  exchange_ids: number[];
  started: number | null;
  ended: number | null;
}

/**
 * Sign in, at once or step by step; what is given is sent in place of what is configured.
 *
 * Replied to at once; the steps follow as changes of the server. A server that is not connected
 * is connected.
 */
export interface SignInTo {
  type: "SignInTo";
  id: number;
  server_id: string;
  is_stepwise?: boolean;
  scopes?: string | null;
  client_id?: string | null;
  client_secret?: string | null;
  redirect_uri?: string | null;
  resource?: string | null;
}

/**
 * Disconnect, revoke the token where the server can do so, and forget it.
 */
export interface SignOut {
  type: "SignOut";
  id: number;
  server_id: string;
}

/**
 * End a user's sign-in: its token is forgotten, and revoked where that is possible.
 */
export interface SignUserOut {
  type: "SignUserOut";
  id: number;
  caller: string;
  server_id: string;
  server_url: string;
}

/**
 * What was done, in words.
 */
export interface SignedOutView {
  outcome: string;
}

/**
 * Where a server runs that may run once; `replica` is null while none has its lease.
 */
export interface SingletonView {
  replica: string | null;
  is_here: boolean;
}

/**
 * An entry as skills/get gives it now, and how it differs from that of skills/list.
 */
export interface SkillComparison {
  got: SkillView;
  is_listed: boolean;
  differences: SkillFinding[];
}

/**
 * A file as the manifest of a skill has it.
 */
export interface SkillFile {
  uri: string;
  digest: string;
  size: number;
}

/**
 * A file of a skill as it was read, whatever came of the checks.
 *
 * `text` is null for bytes that are not text, `body` is what follows the front matter of a
 * SKILL.md, `hidden` what a reader does not see. `is_cut` says that the text goes on.
 */
export interface SkillFileView {
  verdict: FileVerdict;
  mime_type: string | null;
  text: string | null;
  is_cut: boolean;
  body: string | null;
  front_matter: unknown;
  hidden: HiddenPart[];
}

/**
 * One thing that is wrong with a skill, as a sentence; a warning does not keep it from use.
 */
export interface SkillFinding {
  check: string;
  text: string;
  is_error: boolean;
  cause: string;
  uri: string;
  expected: string;
  actual: string;
}

/**
 * What the server lists in the folders of a skill, and how it differs from the manifest.
 */
export interface SkillFolderView {
  entries: DirectoryEntry[];
  cut: string | null;
  findings: SkillFinding[];
}

/**
 * The skills that a server lists; `cut` says why there may be more.
 */
export interface SkillListView {
  server_id: string;
  skills: SkillView[];
  fetched: number;
  cut: string | null;
  findings: SkillFinding[];
}

/**
 * What came of each file.
 */
export interface SkillVerification {
  verdicts: FileVerdict[];
  totals: VerificationTotals;
}

/**
 * A skill as its server describes it; `problem` says why it must not be loaded.
 *
 * `requests` are tools, hooks and scripts that it asks for: they are shown and ignored.
 * `fetched` is when the entry came, `ttl_ms` how long it may be taken for fresh.
 */
export interface SkillView {
  uri: string;
  name: string;
  description: string;
  directory: string;
  frontmatter: unknown;
  files: SkillFile[];
  size_bytes: number;
  is_dynamic: boolean;
  problem: string | null;
  findings: SkillFinding[];
  requests: string[];
  fetched: number;
  ttl_ms: number | null;
  cache_scope: string | null;
  value: unknown;
}

/**
 * Where a server comes from: a file, the command line (`given`), or this page.
 */
export interface SourceView {
  kind: string;
  path: string;
  scope: string;
}

/**
 * What the traffic adds up to since mcplens started, without pings, handshakes and
 * subscription streams.
 *
 * The percentiles are of the newest 200 requests; `recent` has the newest of them, the oldest
 * first.
 */
export interface StatisticsView {
  requests: number;
  errors: number;
  median_s: number | null;
  p95_s: number | null;
  sent_bytes: number;
  received_bytes: number;
  reconnects: number;
  last_error: LastErrorView | null;
  recent: EndedRequestView[];
}

/**
 * A saved call as the file has it. `arguments` is JSON text, placeholders not filled in;
 * `problem` says why it cannot be run.
 */
export interface StepView {
  index: number;
  line: number;
  name: string;
  description: string;
  server_id: string | null;
  kind: "call" | "prompt" | "read" | "request";
  target: string;
  arguments: string;
  variables: string[];
  problem: string | null;
}

/**
 * Wait for no more pages of a list; those that came stay.
 */
export interface StopList {
  type: "StopList";
  id: number;
  server_id: string;
  kind: ListKind;
}

/**
 * Start no more steps of a run; with `cancel`, the one that runs is cancelled too.
 */
export interface StopRun {
  type: "StopRun";
  id: number;
  collection_run_id: string;
  cancel?: boolean;
}

/**
 * Follow a resource.
 */
export interface Subscribe {
  type: "Subscribe";
  id: number;
  server_id: string;
  uri: string;
}

/**
 * A resource that is followed; `updates` counts how often the server said it changed.
 */
export interface SubscriptionView {
  uri: string;
  updated: number | null;
  updates: number;
  error: ErrorView | null;
}

/**
 * A change of one entry of another tool's file; `keys` lead to it, secrets are masked.
 */
export interface TapChangeView {
  client: string;
  file: string;
  keys: string[];
  command: string[];
  changed_command: string[];
  backup: string | null;
}

/**
 * A task: one that the server runs for us (`client`), or one that we hold (`receiver`).
 *
 * `expires` is when it is forgotten (null: never), `request_seq` the frame of the request that
 * became this task, and `question_id` what it waits for. `is_gone` says that it is no longer
 * followed. `created` is by the clock of the side that runs it, `started` by that of this machine,
 * if it saw the beginning. `ended` is when it was over, or gone, on the clock of `started`.
 */
export interface TaskView {
  task_id: string;
  server_id: string;
  role: "client" | "receiver";
  method: string;
  status: string;
  message: string | null;
  created: number;
  started: number;
  updated: number;
  ended: number | null;
  expires: number | null;
  poll_interval_s: number | null;
  request_seq: number | null;
  call_id: string | null;
  question_id: string | null;
  task: Record<string, unknown>;
  is_over: boolean;
  is_gone: boolean;
}

/**
 * What the access token says, unverified (null: it is opaque); its text only if asked for.
 */
export interface TokenView {
  header: Record<string, unknown> | null;
  claims: Record<string, unknown> | null;
  token: string | null;
  refresh_token: string | null;
}

/**
 * Stop the gateway, once the calls that are under way have ended; servers stay connected.
 */
export interface TurnGatewayOff {
  type: "TurnGatewayOff";
  id: number;
}

/**
 * Start the gateway where the configuration says; the enabled servers are connected.
 */
export interface TurnGatewayOn {
  type: "TurnGatewayOn";
  id: number;
}

export interface Unpin {
  type: "Unpin";
  id: number;
  run_id: string;
  seq: number;
}

export interface Unsubscribe {
  type: "Unsubscribe";
  id: number;
  server_id: string;
  uri: string;
}

/**
 * A user of the gateway who is signed in to a server; `caller` tells users apart.
 *
 * `renewed_at` is when the token was got, or last refreshed.
 */
export interface UserSignInView {
  caller: string;
  user: string;
  server_id: string;
  server_url: string;
  renewed_at: number;
}

/**
 * Who is signed in to what through the gateway.
 */
export interface UserSignIns {
  type: "UserSignIns";
  id: number;
}

/**
 * A variable that a collection uses; `source` is where its value comes from, null if unset.
 */
export interface VariableView {
  name: string;
  is_secret: boolean;
  source: "environment" | "typed" | null;
}

/**
 * What a run of verification added up to.
 */
export interface VerificationTotals {
  files: number;
  bytes: number;
  counts: Record<string, number>;
  cut: string | null;
}

/**
 * Read every file of a skill and verify it; without `uri`, of all skills of the list.
 */
export interface VerifySkills {
  type: "VerifySkills";
  id: number;
  server_id: string;
  uri?: string | null;
}

/**
 * What the views publish that nobody has approved as it is.
 */
export interface WaitingDefinitions {
  type: "WaitingDefinitions";
  id: number;
}

/**
 * A request that got no answer (yet); `is_question` if the server asked it.
 */
export interface WaitingRequestView {
  seq: number;
  wall: number;
  server_id: string;
  method: string;
  request_id: number | string | null;
  is_question: boolean;
}

/**
 * A definition that waits for approval; `before` is null if it is new.
 *
 * `kind` is the name of its list, `word` what one of them is called. `before` and `after` are JSON
 * with secrets masked. One that `is_held` is not published.
 */
export interface WaitingView {
  view: string;
  kind: string;
  server_id: string;
  name: string;
  sha256: string;
  word: string;
  is_held: boolean;
  changes: ChangeView[];
  before: string | null;
  after: string;
}

/**
 * One event with all fields; `text` is its message or body, None if that is not UTF-8.
 *
 * `has_exact` says that the bytes without masks are still in memory, for RevealBytes.
 */
export interface WholeEvent {
  event: EventView;
  text: string | null;
  text_is_cut: boolean;
  masked: unknown[];
  has_exact: boolean;
}

/**
 * Which file was written, and where its former content is.
 */
export interface WrittenView {
  path: string;
  backup: string | null;
  servers: string[];
}

export type Command =
  | Abandon
  | AddRoot
  | AnswerElicitation
  | AnswerSampling
  | ApproveDefinitions
  | AutoRespond
  | BrowseFolder
  | CallTool
  | CancelCall
  | CancelSignIn
  | CancelTask
  | ChangeTap
  | CheckPatterns
  | CheckSkillFile
  | ChooseIssuer
  | CompareSkillFolder
  | Complete
  | Confirm
  | ConfirmCollection
  | ConfirmationOf
  | Connect
  | ContinueSignIn
  | CreateCollection
  | DeleteCollection
  | DeleteSavedCall
  | Disconnect
  | EditSavedCall
  | Examine
  | FillSavedCall
  | ForgetRegistration
  | ForgetRun
  | FoundServers
  | GatewayAudit
  | GatewayEntries
  | GatewayToken
  | GetPrompt
  | GetSkill
  | GetTaskResult
  | HostProfiles
  | List
  | ListCollections
  | ListPins
  | ListSavedCalls
  | ListSkills
  | ListTasks
  | LookAtAuth
  | MakeExample
  | MoreOfList
  | OpenApp
  | ParseTarget
  | PasteRedirect
  | Pin
  | Ping
  | PlanRun
  | PublishedViews
  | ReadResource
  | ReadSkillFolder
  | RecordAppMessage
  | RefreshToken
  | RejectQuestion
  | RemoveRoot
  | RenameCollection
  | RepeatCall
  | ReplayCall
  | Request
  | RequestForApp
  | Resume
  | RevealBytes
  | RevealSecret
  | RevealToken
  | RunCollection
  | RunInfo
  | SaveCall
  | SaveRecordedTest
  | SendRaw
  | ServerAdd
  | ServerEdit
  | ServerEntryOf
  | ServerExport
  | ServerImport
  | ServerRead
  | ServerRemove
  | SetCapabilities
  | SetLevel
  | SetProfile
  | SetSetting
  | SetToken
  | SetVariables
  | ShowCollection
  | SignInTo
  | SignOut
  | SignUserOut
  | StopList
  | StopRun
  | Subscribe
  | TurnGatewayOff
  | TurnGatewayOn
  | Unpin
  | Unsubscribe
  | UserSignIns
  | VerifySkills
  | WaitingDefinitions;

export type ServerMessage =
  | Hello
  | CommandReply
  | Failure
  | Events
  | Missed
  | Changed;

/**
 * What the Reply to a command carries.
 */
export interface Replies {
  AddRoot: ServerView;
  AnswerElicitation: null;
  AnswerSampling: null;
  ApproveDefinitions: ApprovalView;
  AutoRespond: null;
  BrowseFolder: FolderView;
  CallTool: CallView;
  CancelCall: CallView;
  CancelSignIn: AuthView | null;
  CancelTask: TaskView;
  ChangeTap: TapChangeView;
  CheckPatterns: PatternVerdicts;
  CheckSkillFile: SkillFileView;
  ChooseIssuer: AuthView | null;
  CompareSkillFolder: DiskComparison;
  Complete: CompletionView;
  Confirm: ServerView;
  ConfirmCollection: CollectionView;
  ConfirmationOf: ConfirmationView;
  Connect: ServerView;
  ContinueSignIn: AuthView | null;
  CreateCollection: CollectionView;
  DeleteCollection: string;
  DeleteSavedCall: CollectionView;
  Disconnect: ServerView;
  EditSavedCall: CollectionView;
  Examine: DiagnosisView;
  FillSavedCall: string;
  ForgetRegistration: AuthView | null;
  ForgetRun: null;
  FoundServers: FoundView[];
  GatewayAudit: AuditView;
  GatewayEntries: GatewayEntryView[];
  GatewayToken: string | null;
  GetPrompt: CallView;
  GetSkill: SkillComparison;
  GetTaskResult: CallView;
  HostProfiles: HostProfilesView;
  List: ListView;
  ListCollections: CollectionListView;
  ListPins: PinView[];
  ListSavedCalls: SavedCallView[];
  ListSkills: SkillListView;
  ListTasks: TaskView[];
  LookAtAuth: AuthView | null;
  MakeExample: ExampleArguments;
  MoreOfList: ListSummary;
  OpenApp: AppView;
  ParseTarget: FoundView;
  PasteRedirect: AuthView | null;
  Pin: PinView[];
  Ping: PingView;
  PlanRun: RunPlanView;
  PublishedViews: PublishedView[];
  ReadResource: CallView;
  ReadSkillFolder: SkillFolderView;
  RecordAppMessage: number;
  RefreshToken: AuthView | null;
  RejectQuestion: null;
  RemoveRoot: ServerView;
  RenameCollection: CollectionView;
  RepeatCall: CallView;
  ReplayCall: CallView;
  Request: CallView;
  RequestForApp: AppAnswer;
  RevealBytes: ExactBytesView;
  RevealSecret: SecretView;
  RevealToken: TokenView;
  RunCollection: CollectionRunView;
  RunInfo: RunInfoView;
  SaveCall: CollectionView;
  SaveRecordedTest: CollectionView;
  SendRaw: CallView;
  ServerAdd: WrittenView;
  ServerEdit: WrittenView;
  ServerEntryOf: EntryView;
  ServerExport: ExportView;
  ServerImport: WrittenView;
  ServerRead: FoundView[];
  ServerRemove: null;
  SetCapabilities: ServerView;
  SetLevel: ServerView;
  SetProfile: ServerView;
  SetSetting: SettingView;
  SetToken: AuthView | null;
  SetVariables: null;
  ShowCollection: CollectionView;
  SignInTo: AuthView | null;
  SignOut: SignedOutView;
  SignUserOut: string;
  StopList: ListSummary;
  StopRun: CollectionRunView;
  Subscribe: ServerView;
  TurnGatewayOff: GatewayView;
  TurnGatewayOn: GatewayView;
  Unpin: PinView[];
  Unsubscribe: ServerView;
  UserSignIns: UserSignInView[];
  VerifySkills: SkillVerification;
  WaitingDefinitions: ApprovalView;
}

/**
 * What `Changed.value` is, by `what`.
 */
export interface ObjectViews {
  servers: ServerView;
  calls: CallView;
  questions: QuestionView;
  tasks: TaskView;
  lists: ListSummary;
  settings: SettingView;
  recording: RecordingView;
  collection_runs: CollectionRunView;
  runs: RunInfoView;
  gateway: GatewayView;
}
