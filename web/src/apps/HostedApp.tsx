// One app in one host: why it is blank, its frame, what it wants and what it said.
import { Button } from "@mantine/core";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "react-router";
import type { CallView } from "../api/types";
import { useCallResult } from "../calls/useCallResult";
import { Callout } from "../components/Callout";
import { Icon } from "../components/Icon";
import { UntrustedText } from "../components/UntrustedText";
import { useWidth } from "../components/useWidth";
import { ring, useRingVersion } from "../state/events";
import { pathTo } from "../state/navigation";
import { useInspector } from "../state/store";
import { pluralize } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import { fieldsOf, type JsonObject } from "../values/jsonObject";
import type { AppHost } from "./AppHost";
import css from "./AppPanel.module.css";
import { AppReport } from "./AppReport";
import type { AppRun } from "./appDifferences";
import type { AppState, Consent } from "./appState";
import {
  blankReason,
  hasDrawnNothing,
  sizeNote,
  type Violation,
  violationsOf,
} from "./blankReason";
import type { HostSettings } from "./hostSettings";
import { allowOf, type RunningApp, useApp, useHostState } from "./useApp";

// A click that was meant for the app must not agree to what has just appeared in its place.
const AGREE_MS = 700;
// Small, so that an app that never reports its size is seen to be cut off.
const START_HEIGHT = 160;

const PHASES: Record<AppState["phase"], string> = {
  loading: "starting",
  initializing: "starting",
  initialized: "running",
  closing: "closing",
  closed: "closed",
};

/** Tells the app about the call of its tool as it goes on. */
function FollowedCall({ host, call }: { host: AppHost | null; call: CallView }) {
  const { value } = useCallResult(call);
  const { status, error, request } = call;
  useEffect(() => {
    if (!host) return;
    host.follow({ arguments: fieldsOf(fieldsOf(request).arguments) });
    if (status === "completed" && value !== undefined) host.follow({ result: value });
    else if (status === "cancelled") host.follow({ cancelled: "Cancelled by the user" });
    else if (status === "error")
      host.follow({
        result: { content: [{ type: "text", text: error?.message ?? "failed" }], isError: true },
      });
  }, [host, request, status, value, error]);
  return null;
}

/** Tells the app when a list of its server was fetched anew because it changed. */
function useListChanges(host: AppHost | null, serverId: string): void {
  const lists = useInspector((state) => state.servers.get(serverId)?.lists);
  const known = useRef(new Map<string, number>());
  useEffect(() => {
    for (const { kind, fetched, is_changed } of lists ?? []) {
      const before = known.current.get(kind);
      known.current.set(kind, fetched);
      if (before !== undefined && before !== fetched && is_changed && kind !== "resource_templates")
        host?.listChanged(kind);
    }
  }, [host, lists]);
}

/** What a host tells an app before and around a call, by hand. */
function ByHand({ host, draft }: { host: AppHost; draft: JsonObject }) {
  const button = (label: string, act: () => void) => (
    <Button size="compact-xs" variant="default" onClick={act}>
      {label}
    </Button>
  );
  return (
    <div className="row wrap">
      {button("Send partial input", () => host.sendPartial(draft))}
      {button("Send input", () => host.follow({ arguments: draft }))}
      {button("Send cancelled", () => host.follow({ cancelled: "Cancelled by the user" }))}
    </div>
  );
}

/** The violations that a browser reported of an app, as they come. */
function useViolations(appId: string | undefined): Violation[] {
  const version = useRingVersion(ring);
  const seen = useRef({ appId, seq: 0, found: [] as Violation[] });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for the events
  return useMemo(() => {
    if (seen.current.appId !== appId) seen.current = { appId, seq: 0, found: [] };
    if (appId === undefined) return [];
    const fresh = [];
    for (let at = ring.items.length - 1; at >= 0; at -= 1) {
      const event = ring.items[at];
      if (!event || event.seq <= seen.current.seq) break;
      fresh.unshift(event);
      // Nothing of it is older than its opening.
      if (event.kind === "AppOpened" && event.detail.app_id === appId) break;
    }
    const found = [...seen.current.found, ...violationsOf(fresh, appId)];
    seen.current = { appId, seq: ring.lastSeq ?? 0, found };
    return found;
  }, [appId, version]);
}

export function Consents({ host, consents }: { host: AppHost; consents: Consent[] }) {
  const shown = consents.map(({ key }) => key).join();
  const [seen, setSeen] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSeen(shown), AGREE_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  const words = ({ url, files }: Consent): string =>
    url ?? (files ?? []).map(({ name }) => name).join(", ");
  if (consents.length === 0) return null;
  return (
    <div className={`stack ${css.consents}`}>
      {consents.map((consent) => (
        <Callout key={consent.key} tone="info">
          <div className="row wrap">
            <span className={`grow ${css.consent}`}>
              The app wants to {consent.url ? "open" : "save"}{" "}
              <span className="mono">
                <UntrustedText>{words(consent)}</UntrustedText>
              </span>
            </span>
            <div className="row">
              <Button
                variant="default"
                className={css.agree}
                disabled={seen !== shown}
                onClick={() => host.decide(consent, true)}
              >
                {consent.url ? "Open" : "Save"}
              </Button>
              <Button variant="subtle" color="gray" onClick={() => host.decide(consent, false)}>
                Decline
              </Button>
            </div>
          </div>
        </Callout>
      ))}
    </div>
  );
}

interface HeadProps {
  app: RunningApp;
  state: AppState | null;
  /** Whether it is known why it shows nothing. */
  isExplained: boolean;
  serverId: string;
  onReload(): void;
  children: ReactNode;
}

function Head({ app, state, isExplained, serverId, onReload, children }: HeadProps) {
  const { host } = app;
  const phase = state ? PHASES[state.phase] : null;
  return (
    <div className={css.head}>
      <span className="dim grow">
        {state ? (
          <>
            <UntrustedText>{state.name ?? "App"}</UntrustedText>,{" "}
            {isExplained && phase === PHASES.loading ? "not started" : phase} ·{" "}
            <Link to={`${pathTo(serverId, "traffic")}?app=${app.view?.app_id ?? ""}`}>
              {pluralize(state.count, "message")}
            </Link>
          </>
        ) : (
          !app.problem && "Reading the app…"
        )}
      </span>
      <div className={css.actions}>
        {children}
        {host && state?.phase === "initialized" && (
          <Button variant="subtle" color="gray" onClick={() => void host.teardown("Closed by you")}>
            Close
          </Button>
        )}
        <Button
          variant="subtle"
          color="gray"
          leftSection={<Icon name="refresh" />}
          onClick={onReload}
        >
          Reload
        </Button>
      </div>
    </div>
  );
}

interface StageProps {
  app: RunningApp;
  state: AppState | null;
  settings: HostSettings;
  width: number;
  /** Whether the page's own ground is seen in the frame. */
  isBlank: boolean;
}

function Stage({ app, state, settings, width, isBlank }: StageProps) {
  const { view, host, frame, proxyUrl } = app;
  if (!view || !proxyUrl || state?.phase === "closed") return null;
  const isWhole = state?.displayMode === "fullscreen";
  const height = Math.min(state?.size?.height ?? START_HEIGHT, settings.maxHeight);
  const isBare = view.prefers_border === false;
  return (
    <div className={isWhole ? css.whole : "stack"}>
      {host && state && <Consents host={host} consents={state.consents} />}
      {isWhole && (
        <div className="row">
          <span className="grow" />
          <Button variant="default" onClick={() => host?.changeContext({ displayMode: "inline" })}>
            Back to inline
          </Button>
        </div>
      )}
      <div className={css.stage}>
        <div className={css.sized} ref={(element) => sized(element, settings.width ? width : null)}>
          <iframe
            key={view.app_id}
            ref={(element) => {
              frame.current = element;
              if (element) element.style.height = isWhole ? "" : `${Math.max(height, 1)}px`;
            }}
            className={`${css.frame} ${isBare ? css.bare : ""} ${isBlank ? css.blank : ""}`}
            title={`App of ${view.tool}`}
            src={proxyUrl}
            sandbox="allow-scripts allow-same-origin allow-forms"
            allow={allowOf(view, settings)}
          />
        </div>
      </div>
    </div>
  );
}

function sized(element: HTMLElement | null, width: number | null): void {
  if (element) element.style.width = width === null ? "" : `${width}px`;
}

interface Props {
  serverId: string;
  tool: string;
  /** The call that the app is shown for; null to open it without one. */
  call: CallView | null;
  /** Arguments to tell the app by hand, where there is no call. */
  draft: JsonObject;
  settings: HostSettings;
  /** What can be done with the host, beside what can be done with the app. */
  actions: ReactNode;
  /** Below them: what they open. */
  controls?: ReactNode;
  /** Whether what it said and runs under is left out: it is compared elsewhere. */
  isBrief: boolean;
  /** Called with what is known of it, whenever that changes. */
  onRun?(run: AppRun): void;
}

export function HostedApp(props: Props) {
  const { serverId, tool, call, draft, settings, actions, controls, isBrief, onRun } = props;
  const [turn, setTurn] = useState(0);
  const place = useRef<HTMLDivElement | null>(null);
  const room = useWidth(place);
  const width = settings.width ?? (Number.isFinite(room) ? room : 600);
  const size = useMemo(() => ({ width, height: innerHeight }), [width]);
  const requestId = call?.request_id ?? null;
  const app = useApp({ serverId, tool, settings, turn, size, requestId });
  const { view, host, isDue } = app;
  const state = useHostState(host);
  const violations = useViolations(view?.app_id);
  useListChanges(host, serverId);
  const findings = view?.findings ?? [];
  const unreachable = app.isUnreachable && view ? view.port : null;
  const domains = view?.domains ?? [];
  const facts = { ...app, unreachable, state, violations, findings, domains };
  const reason = blankReason(facts);
  const note = state && sizeNote(state, isDue);
  const problem = state?.problem;
  const warning = problem ?? reason ?? note;
  useEffect(() => {
    onRun?.({ view, state, violations, reason, settings });
  }, [onRun, view, state, violations, reason, settings]);
  return (
    <div className={css.panel}>
      <Head
        app={app}
        state={state}
        isExplained={reason !== null}
        serverId={serverId}
        onReload={() => setTurn(turn + 1)}
      >
        {actions}
      </Head>
      {controls}
      <div className={css.body} ref={place}>
        {call ? (
          <FollowedCall host={host} call={call} />
        ) : (
          host && state?.phase === "initialized" && <ByHand host={host} draft={draft} />
        )}
        {warning && <Callout>{visible(warning)}</Callout>}
        {state?.phase === "closed" && !problem && <p className="dim">The app was closed.</p>}
        <Stage
          app={app}
          state={state}
          settings={settings}
          width={width}
          isBlank={hasDrawnNothing(facts)}
        />
        {!isBrief && view && host && state && (
          <AppReport view={view} host={host} state={state} violations={violations} />
        )}
      </div>
    </div>
  );
}
