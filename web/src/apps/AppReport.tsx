// What an app said and wanted, and what it runs under: shown below it, and sent nowhere.
import { Button, Tabs } from "@mantine/core";
import { useState } from "react";
import type { AppFindingView, AppView } from "../api/types";
import { JsonTree } from "../components/JsonTree";
import { TruncatedList } from "../components/TruncatedList";
import { UntrustedText } from "../components/UntrustedText";
import { Content } from "../content/Content";
import { errorMessage } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import type { AppHost } from "./AppHost";
import css from "./AppPanel.module.css";
import type { AppState, AppTool } from "./appState";
import { knownLines, type Violation, violationWords } from "./blankReason";

function Messages({ state, serverId }: { state: AppState; serverId: string }) {
  return (
    <div className="stack">
      <p className="dim">What a host would hand to its model. mcplens sends it nowhere.</p>
      {state.messages.map((content, index) => (
        <div key={index} className="stack tight">
          {(Array.isArray(content) ? content : [content]).map((block, place) => (
            <Content key={place} block={block} callId="" pointer="" serverId={serverId} />
          ))}
        </div>
      ))}
      {state.modelContext && (
        <>
          <h4 className="section-title">Model context</h4>
          <JsonTree value={state.modelContext} label="Model context" most={240} />
        </>
      )}
    </div>
  );
}

function OwnTools({ host, tools }: { host: AppHost; tools: AppTool[] }) {
  const [answer, setAnswer] = useState<unknown>(null);
  const call = (name: string): void =>
    void host.callTool(name, {}).then(setAnswer, (thrown) => setAnswer(errorMessage(thrown)));
  return (
    <div className="stack">
      {tools.map(({ name, description }) => (
        <div key={name} className="row wrap">
          <span className="mono">
            <UntrustedText>{name}</UntrustedText>
          </span>
          <span className="dim grow">
            <UntrustedText>{description ?? ""}</UntrustedText>
          </span>
          <Button size="compact-xs" variant="default" onClick={() => call(name)}>
            Call
          </Button>
        </div>
      ))}
      {answer !== null && <JsonTree value={answer} label="Answer of the app" most={240} />}
    </div>
  );
}

/** Lines with a title above them; nothing where there are none. */
function Lines({ title, lines }: { title: string; lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <div className="stack tight">
      <h4 className="section-title">{title}</h4>
      <TruncatedList label={title} className={css.list ?? ""} lines={lines.map(visible)} />
    </div>
  );
}

function Policy({ view, violations, findings }: PolicyProps) {
  return (
    <div className="stack">
      <Lines title="Blocked" lines={violations.map(violationWords)} />
      <Lines
        title="Findings"
        lines={findings.map(({ text, line }) => (line ? `Line ${line}: ${text}` : text))}
      />
      {view.permissions.length > 0 && (
        <p className="dim">
          It asks for {visible(view.permissions.join(", "))}. You can grant this under Host.
        </p>
      )}
      <div className="stack tight">
        <h4 className="section-title">Content-Security-Policy</h4>
        <ul className={`${css.list} mono`} aria-label="Content-Security-Policy">
          {view.policy.split("; ").map((part) => (
            <li key={part}>{part}</li>
          ))}
        </ul>
      </div>
    </div>
  );
}

interface PolicyProps {
  view: AppView;
  violations: Violation[];
  findings: AppFindingView[];
}

interface Props {
  view: AppView;
  host: AppHost;
  state: AppState;
  violations: Violation[];
}

export function AppReport({ view, host, state, violations }: Props) {
  const { known, others } = knownLines(violations, view.findings);
  const said = state.messages.length + (state.modelContext ? 1 : 0);
  const counts = {
    messages: said,
    log: state.logs.length,
    refused: state.refusals.length,
    tools: state.tools?.length ?? 0,
    policy: violations.length + others.length,
  };
  const tab = (value: keyof typeof counts, label: string) =>
    (counts[value] > 0 || value === "policy") && (
      <Tabs.Tab value={value}>
        {label}
        {counts[value] > 0 && ` ${counts[value]}`}
      </Tabs.Tab>
    );
  return (
    <Tabs defaultValue="policy" keepMounted={false}>
      <Tabs.List mb="sm" aria-label="About the app">
        {tab("policy", "Policy")}
        {tab("messages", "For the model")}
        {tab("log", "Log")}
        {tab("tools", "Its tools")}
        {tab("refused", "Refused")}
      </Tabs.List>
      <Tabs.Panel value="policy">
        <Policy view={view} violations={known} findings={others} />
      </Tabs.Panel>
      <Tabs.Panel value="messages">
        <Messages state={state} serverId={view.server_id} />
      </Tabs.Panel>
      <Tabs.Panel value="log">
        <JsonTree value={state.logs} label="Log of the app" most={320} />
      </Tabs.Panel>
      <Tabs.Panel value="tools">
        <OwnTools host={host} tools={state.tools ?? []} />
      </Tabs.Panel>
      <Tabs.Panel value="refused">
        <TruncatedList
          label="Refused"
          className={css.list ?? ""}
          lines={state.refusals.map(({ method, reason }) => visible(`${method}: ${reason}`))}
        />
      </Tabs.Panel>
    </Tabs>
  );
}
