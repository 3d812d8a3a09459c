// The host of one app: answers its messages, refuses what must be refused, and records both sides.
// No React and no frame: AppFrame.tsx gives it the messages, appHost.test.ts plays an app.
import { errorMessage } from "../values/format";
import { fieldsOf, isObject, type JsonObject } from "../values/jsonObject";
import {
  type AppState,
  type Consent,
  type HostOptions,
  initialState,
  type ToolOutcome,
} from "./appState";
import {
  type AppMessage,
  FOR_HOST,
  filesIn,
  INVALID_PARAMS,
  linkProblem,
  METHOD_NOT_FOUND,
  type MessageId,
  PASSED_ON,
  PROTOCOL_VERSION,
  parseMessage,
  REFUSED,
} from "./dialect";
import type { DisplayMode } from "./hostSettings";

// An app in a loop must not fill the page.
const MOST_KEPT = 100;
const MOST_KEPT_CHARACTERS = 100_000;
const MOST_WORDS = 500;
// Nor its connection: this many a second, and three times that at once. A large message counts for
// several.
const MOST_A_SECOND = 200;
const BURST = 3 * MOST_A_SECOND;
const CHARACTERS_OF_ONE = 50_000;
// An app that goes on for so long is closed.
const FLOOD_MS = 5_000;
// A pause that ends a flood.
const CALM_MS = 1_000;
// The commands of a page are limited too.
const MOST_REQUESTS = 8;
// Suggested by the specification for tools of apps.
const MOST_TOOLS = 50;
const ANSWER_MS = 30_000;

// Of these the app is told when a list of the server changes.
const LISTS: Record<string, JsonObject> = {
  serverTools: { listChanged: true },
  serverResources: { listChanged: true },
};
const LIST_OF: Record<string, string> = { tools: "serverTools" };

class Refusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

const isLarge = (value: unknown): boolean =>
  (JSON.stringify(value) ?? "").length > MOST_KEPT_CHARACTERS;
const TOO_LARGE = "Too large to be kept here; Traffic has it.";

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export class AppHost {
  state: AppState;
  private readonly listeners = new Set<() => void>();
  private readonly waiting = new Map<MessageId, Waiting>();
  private readonly deciding = new Map<number, (isAgreed: boolean) => void>();
  private readonly sent = new Set<string>();
  private outcome: ToolOutcome = {};
  private nextId = 1;
  private requests = 0;
  private listing: Promise<void> | null = null;
  private mustListAgain = false;
  // Messages that it may still send, and when that was counted.
  private allowance = BURST;
  private counted = performance.now();
  private flood = { since: 0, last: Number.NEGATIVE_INFINITY, dropped: 0, told: 0 };

  constructor(private readonly options: HostOptions) {
    this.state = initialState(options.context.displayMode as DisplayMode);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private set(change: Partial<AppState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }

  private refused(method: string, reason: string): void {
    const words = { method: method.slice(0, MOST_WORDS), reason: reason.slice(0, MOST_WORDS) };
    const refusals = [...this.state.refusals, words].slice(-MOST_KEPT);
    this.set({ refusals });
  }

  private send(message: Omit<AppMessage, "jsonrpc">): void {
    const whole: AppMessage = { jsonrpc: "2.0", ...message };
    this.options.record("host", JSON.stringify(whole));
    this.options.post(whole);
    this.set({ count: this.state.count + 1 });
  }

  // -- from the app ------------------------------------------------------------------------------

  /** What the app posted. */
  receive(data: unknown): void {
    if (this.state.phase === "closed") return;
    const now = performance.now();
    const earned = ((now - this.counted) / 1000) * MOST_A_SECOND;
    this.allowance = Math.min(BURST, this.allowance + earned);
    this.counted = now;
    if (this.allowance >= 1) this.heard(data);
    else this.drop(now);
  }

  private heard(data: unknown): void {
    this.set({ count: this.state.count + 1 });
    const { text, message, problem } = parseMessage(data);
    this.allowance -= 1 + text.length / CHARACTERS_OF_ONE;
    if (!message) {
      this.options.record("app", text, problem ?? "");
      this.refused("message", problem ?? "");
    } else if (message.method === undefined) this.answered(message, text);
    else if (message.id === undefined) this.notified(message.method, message.params ?? {}, text);
    else void this.requested(message.id, message.method, message.params ?? {}, text);
  }

  /** Leaves a message out, as one too many; closes the app if it does not stop. */
  private drop(now: number): void {
    const { flood } = this;
    if (now - flood.last > CALM_MS) flood.since = now;
    flood.last = now;
    flood.dropped += 1;
    const isOver = now - flood.since > FLOOD_MS;
    // Not for each of them: telling it draws the page.
    if (!isOver && flood.dropped > 1 && now - flood.told < CALM_MS) return;
    flood.told = now;
    const what = `more than ${MOST_A_SECOND} messages a second, or very large ones`;
    const left = `${flood.dropped.toLocaleString("en")} were neither answered nor recorded.`;
    const problem = isOver ? `The app was closed: it sent ${what}.` : `The app sends ${what}.`;
    this.set({ problem: `${problem} ${left}` });
    if (isOver) this.close();
  }

  private answered({ id, result, error }: AppMessage, text: string): void {
    const waiting = this.waiting.get(id as MessageId);
    this.waiting.delete(id as MessageId);
    this.options.record("app", text, waiting ? undefined : "It answers no request.");
    if (error) waiting?.reject(new Error(String(error.message)));
    else waiting?.resolve(result);
  }

  private notified(method: string, params: JsonObject, text: string): void {
    const isEarly = this.state.phase === "loading";
    const isFirst = method === "ui/notifications/initialized";
    if (isEarly || (this.state.phase === "initializing" && !isFirst)) {
      const reason = `${method} came before the app was initialized`;
      this.options.record("app", text, reason);
      this.refused(method, reason);
      // The size is what the app will need all the same.
      if (!isEarly && method === "ui/notifications/size-changed") this.resized(params);
      return;
    }
    this.options.record("app", text);
    if (isFirst) this.initialized();
    else if (method === "ui/notifications/size-changed") this.resized(params);
    else if (method === "ui/notifications/request-teardown") void this.teardown("The app asked");
    else if (method === "notifications/message") this.logged(params);
    else if (method === "notifications/tools/list_changed") void this.listTools();
    else this.refused(method, `${method} is not known`);
  }

  private logged(params: JsonObject): void {
    if (this.options.capabilities.includes("logging"))
      this.set({
        logs: [...this.state.logs, isLarge(params) ? { data: TOO_LARGE } : params].slice(
          -MOST_KEPT,
        ),
      });
    else this.refused("notifications/message", "logging is not advertised");
  }

  private resized({ width, height }: JsonObject): void {
    const side = (value: unknown): number | undefined =>
      typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
    this.set({ size: { width: side(width), height: side(height) } });
  }

  private async requested(
    id: MessageId,
    method: string,
    params: JsonObject,
    text: string,
  ): Promise<void> {
    const refusal = this.refusalOf(method);
    if (!refusal && PASSED_ON.has(method)) return this.passOn(id, method, text);
    this.options.record("app", text, refusal?.message);
    try {
      if (refusal) throw refusal;
      this.send({ id, result: await this.byHost(method, params) });
      this.tellMode();
    } catch (thrown) {
      this.fail(id, method, thrown);
    }
  }

  private fail(id: MessageId, method: string, thrown: unknown): void {
    const message = errorMessage(thrown);
    this.refused(method, message);
    this.send({ id, error: { code: thrown instanceof Refusal ? thrown.code : REFUSED, message } });
  }

  /** Why a request is refused whatever its params are. */
  private refusalOf(method: string): Refusal | null {
    if (method === "ui/initialize" || method === "ping") return null;
    if (this.state.phase !== "initialized" && this.state.phase !== "closing")
      return new Refusal(REFUSED, `${method} came before the app was initialized`);
    const needed = PASSED_ON.get(method) ?? FOR_HOST.get(method);
    if (needed === undefined) return new Refusal(METHOD_NOT_FOUND, `${method} is not known`);
    if (needed !== null && !this.options.capabilities.includes(needed))
      return new Refusal(METHOD_NOT_FOUND, `${needed} is not advertised by this host`);
    if (PASSED_ON.has(method) && this.requests >= MOST_REQUESTS)
      return new Refusal(REFUSED, `${MOST_REQUESTS} requests are running already`);
    return null;
  }

  private async passOn(id: MessageId, method: string, text: string): Promise<void> {
    this.requests += 1;
    try {
      const answer = await this.options.request(text);
      if (answer.error) this.refused(method, String(answer.error.message));
      this.options.post(answer);
      this.set({ count: this.state.count + 1 });
    } catch (thrown) {
      this.fail(id, method, thrown);
    } finally {
      this.requests -= 1;
    }
  }

  private async byHost(method: string, params: JsonObject): Promise<JsonObject> {
    switch (method) {
      case "ui/initialize":
        return this.initialize(params);
      case "ui/open-link": {
        const problem = linkProblem(params.url);
        if (problem) throw new Refusal(INVALID_PARAMS, problem);
        return this.consent({ url: String(params.url) });
      }
      case "ui/download-file": {
        const files = filesIn(params.contents);
        if (typeof files === "string") throw new Refusal(INVALID_PARAMS, files);
        return this.consent({ files });
      }
      case "ui/message":
        if (params.role !== "user" || !Array.isArray(params.content))
          throw new Refusal(INVALID_PARAMS, 'a message has the role "user" and a list as content');
        this.shown(params.content);
        return {};
      case "ui/update-model-context":
        this.set({ modelContext: params });
        return {};
      case "ui/request-display-mode":
        return { mode: this.changeMode(params.mode) };
      default:
        return {};
    }
  }

  private shown(content: unknown[]): void {
    const kept = isLarge(content) ? [{ type: "text", text: TOO_LARGE }] : content;
    this.set({ messages: [...this.state.messages, kept].slice(-MOST_KEPT) });
  }

  private initialize(params: JsonObject): JsonObject {
    const { capabilities, context, toolInfo, version, sandbox } = this.options;
    const appCapabilities = fieldsOf(params.appCapabilities);
    const modes = appCapabilities.availableDisplayModes;
    this.set({
      phase: "initializing",
      name: String(fieldsOf(params.appInfo).name ?? "without a name").slice(0, MOST_WORDS),
      modes: Array.isArray(modes) ? modes.map(String) : [],
      tools: isObject(appCapabilities.tools) ? [] : null,
    });
    return {
      protocolVersion: PROTOCOL_VERSION,
      hostInfo: { name: "mcplens", version },
      hostCapabilities: {
        ...Object.fromEntries(capabilities.map((name) => [name, LISTS[name] ?? {}])),
        sandbox,
      },
      hostContext: { ...context, toolInfo },
    };
  }

  private initialized(): void {
    this.set({ phase: "initialized" });
    this.flush();
    if (this.state.tools !== null) void this.listTools();
  }

  /** Sets the mode that an app wants, if both sides have it; returns the mode that is set. */
  private changeMode(mode: unknown): DisplayMode {
    const { modes, displayMode } = this.state;
    const known = this.options.modes.find((one) => one === mode);
    if (!known || (modes.length > 0 && !modes.includes(known))) {
      this.refused("ui/request-display-mode", `the mode ${String(mode)} is not offered`);
      return displayMode;
    }
    this.set({ displayMode: known });
    return known;
  }

  /** Tells the app its mode, if it is another than it was told. */
  private tellMode(): void {
    const { displayMode, toldMode } = this.state;
    if (!this.isReady || displayMode === toldMode) return;
    this.set({ toldMode: displayMode });
    this.notify("host-context-changed", { displayMode });
  }

  // -- what a person decides ---------------------------------------------------------------------

  private async consent(what: Omit<Consent, "key">): Promise<JsonObject> {
    const key = this.nextId++;
    if (this.state.consents.length >= MOST_REQUESTS)
      throw new Refusal(REFUSED, "too many links and files wait already");
    this.set({ consents: [...this.state.consents, { ...what, key }] });
    const isAgreed = await new Promise<boolean>((resolve) => this.deciding.set(key, resolve));
    if (!isAgreed) throw new Refusal(REFUSED, "the person declined");
    return {};
  }

  /** Carries out or declines what an app wants; within the click, or browsers block the window. */
  decide(consent: Consent, isAgreed: boolean): void {
    if (isAgreed && consent.url) this.options.openLink(consent.url);
    if (isAgreed) for (const file of consent.files ?? []) this.options.saveFile(file);
    this.set({ consents: this.state.consents.filter(({ key }) => key !== consent.key) });
    this.deciding.get(consent.key)?.(isAgreed);
    this.deciding.delete(consent.key);
  }

  // -- to the app --------------------------------------------------------------------------------

  private notify(method: string, params: JsonObject): void {
    this.send({ method: `ui/notifications/${method}`, params });
  }

  private ask(method: string, params: JsonObject, most = ANSWER_MS): Promise<unknown> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new Error(`no answer to ${method}`));
      }, most);
      const done = <T>(act: (value: T) => void) => {
        return (value: T): void => {
          clearTimeout(timer);
          act(value);
        };
      };
      this.waiting.set(id, { resolve: done(resolve), reject: done(reject) });
      this.send({ id, method, params });
    });
  }

  private get isReady(): boolean {
    return this.state.phase === "initialized";
  }

  /** Sends what is due and was not sent: the arguments, then the result. */
  private flush(): void {
    if (!this.isReady) return;
    const { arguments: given, result, cancelled } = this.outcome;
    const once = (method: string, params: JsonObject): void => {
      if (this.sent.has(method)) return;
      this.sent.add(method);
      this.notify(method, params);
    };
    if (given) once("tool-input", { arguments: given });
    if (!this.sent.has("tool-input")) return;
    if (cancelled !== undefined) once("tool-cancelled", { reason: cancelled });
    else if (isObject(result)) once("tool-result", result);
  }

  /** The call of the tool as it stands; what the app was not told yet is sent in order. */
  follow(outcome: ToolOutcome): void {
    this.outcome = { ...this.outcome, ...outcome };
    this.flush();
  }

  /** Arguments as a model would stream them; only before the whole ones. */
  sendPartial(given: JsonObject): void {
    if (this.isReady) this.notify("tool-input-partial", { arguments: given });
  }

  /** Tells the app what changed; its mode only if it is another than it was told. */
  changeContext({ displayMode, ...others }: Record<string, unknown>): void {
    const mode = displayMode as DisplayMode | undefined;
    const isOther = mode !== undefined && mode !== this.state.toldMode;
    if (isOther) this.set({ displayMode: mode, toldMode: mode });
    const changed = isOther ? { ...others, displayMode: mode } : others;
    if (this.isReady && Object.keys(changed).length > 0)
      this.notify("host-context-changed", changed);
  }

  /** A list of the server changed; the app is told, if it may ask for that list. */
  listChanged(kind: string): void {
    const needed = LIST_OF[kind] ?? "serverResources";
    if (this.isReady && this.options.capabilities.includes(needed))
      this.send({ method: `notifications/${kind}/list_changed` });
  }

  /** Asks the app for its tools; if that is under way, once more after it. */
  listTools(): Promise<void> {
    if (this.listing) this.mustListAgain = true;
    else
      this.listing = this.askForTools().finally(() => {
        this.listing = null;
        if (this.mustListAgain && this.isReady) void this.listTools();
      });
    return this.listing;
  }

  private async askForTools(): Promise<void> {
    this.mustListAgain = false;
    try {
      const { tools } = fieldsOf(await this.ask("tools/list", {}));
      const listed = (Array.isArray(tools) ? tools : []).filter(isObject).slice(0, MOST_TOOLS);
      this.set({ tools: listed.map((tool) => ({ ...tool, name: String(tool.name) })) });
    } catch (thrown) {
      this.refused("tools/list", errorMessage(thrown));
    }
  }

  callTool(name: string, given: JsonObject): Promise<unknown> {
    return this.ask("tools/call", { name, arguments: given });
  }

  /** Asks the app to end, and waits for its answer for a while. */
  async teardown(reason: string, most = 3_000): Promise<void> {
    if (this.state.phase === "closing" || this.state.phase === "closed") return;
    const isReady = this.isReady;
    this.set({ phase: "closing" });
    try {
      if (isReady) await this.ask("ui/resource-teardown", { reason }, most);
    } catch (thrown) {
      this.refused("ui/resource-teardown", errorMessage(thrown));
    }
    this.close();
  }

  private close(): void {
    for (const consent of this.state.consents) this.decide(consent, false);
    this.set({ phase: "closed" });
  }
}
