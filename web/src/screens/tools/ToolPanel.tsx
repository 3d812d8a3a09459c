// One tool: description, arguments, and results of its calls.
import { Badge, Tabs, Tooltip } from "@mantine/core";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link } from "react-router";
import type { CallView, ServerView } from "../../api/types";
import { CallPanel } from "../../calls/CallPanel";
import { SavedCallList } from "../../calls/SavedCallList";
import { ExampleButton, FormFooter, Refusal, RunKeys, SendAnyway } from "../../catalog/FormFooter";
import type { MissingItem } from "../../catalog/NotListed";
import { NotListed } from "../../catalog/NotListed";
import { ResultHeading } from "../../catalog/ResultHeading";
import { useItemCalls } from "../../catalog/useItemCalls";
import { ButtonWithReason } from "../../components/ButtonWithReason";
import { Callout } from "../../components/Callout";
import { Description } from "../../components/Description";
import { EmptyState } from "../../components/EmptyState";
import { ErrorNote } from "../../components/ErrorNote";
import { Icon } from "../../components/Icon";
import { JsonTree } from "../../components/JsonTree";
import { lazyModule, useModule } from "../../components/lazyModule";
import { ModuleLoading } from "../../components/ModuleLoading";
import { FORM_WIDTH, SplitPane } from "../../components/SplitPane";
import { UntrustedText } from "../../components/UntrustedText";
import { useRunShortcut } from "../../components/useRunShortcut";
import { useScrollIntoView } from "../../components/useScrollIntoView";
import { ArgumentsEditor } from "../../forms/ArgumentsEditor";
import { invalidFieldsLabel, shownFindings } from "../../forms/validate";
import { appUriOf, itemTitle } from "../../state/items";
import { pathTo } from "../../state/navigation";
import { repeatsInHeaders, takesHeaders } from "../../state/protocol";
import { pluralize } from "../../values/format";
import { fieldsOf } from "../../values/jsonObject";
import { CallOptions } from "./CallOptions";
import css from "./ToolPanel.module.css";
import { callObstacle, hintsOf, type Tool, taskObstacle } from "./toolHints";
import { sizeOf, tokenEstimate } from "./toolSize";
import { type ToolCallForm, useToolCall } from "./useToolCall";

interface Props {
  server: ServerView;
  tool: Tool;
  /** Unique key among items of the same name. */
  itemKey: string;
  /** The definition as the server sent it; undefined if it is not in the list. */
  listed?: unknown;
  missing?: MissingItem | null;
  problem: string | null;
}

function About({ server, tool, missing = null, problem }: Props) {
  return (
    <header className="stack tight">
      <div className="row wrap">
        <Link to={pathTo(server.server_id, "tools")} className={`narrow-only ${css.back}`}>
          All tools
        </Link>
        <h2 className="title">
          <UntrustedText>{itemTitle(tool)}</UntrustedText>
        </h2>
        {hintsOf(tool).map((hint) => (
          <Tooltip key={hint.label} label={hint.about}>
            <Badge color={hint.color}>{hint.label}</Badge>
          </Tooltip>
        ))}
      </div>
      {tool.name && itemTitle(tool) !== tool.name && (
        <span className="mono dim">
          <UntrustedText>{tool.name}</UntrustedText>
        </span>
      )}
      {tool.description && <Description text={tool.description} />}
      <NotListed missing={missing} />
      {problem && (
        <Callout>
          The definition of this tool is broken: {problem.replace(/\.?$/, ".")} You can still call
          it.
        </Callout>
      )}
    </header>
  );
}

function Schemas({ tool, listed }: { tool: Tool; listed: unknown }) {
  return (
    <div className="stack">
      {listed !== undefined && (
        <p className="dim">
          A model receives its name, description and input schema:{" "}
          {pluralize(sizeOf(tool), "character")} of JSON, {tokenEstimate(sizeOf(tool))}.
        </p>
      )}
      <h3 className="section-title">Input schema</h3>
      <JsonTree value={tool.inputSchema ?? null} label="Input schema" most={320} />
      {tool.outputSchema !== undefined && (
        <>
          <h3 className="section-title">Output schema</h3>
          <JsonTree value={tool.outputSchema} label="Output schema" most={320} />
        </>
      )}
      <h3 className="section-title">Definition as listed</h3>
      <JsonTree value={listed ?? null} label="Definition" most={320} />
    </div>
  );
}

function ToolForm({ server, tool, run }: { server: ServerView; tool: Tool; run: ToolCallForm }) {
  const name = tool.name ?? "";
  const { server_id } = server;
  const { problem, error } = run;
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (problem !== null || error !== null) note.current?.scrollIntoView?.({ block: "nearest" });
  }, [problem, error]);
  return (
    <div className="stack" data-form>
      <ArgumentsEditor
        name={`${server_id}-${name}`}
        schema={tool.inputSchema ?? {}}
        sendsHeaders={repeatsInHeaders(server)}
        value={run.draft}
        findings={run.isTried ? run.findings : []}
        unchecked={run.unchecked}
        refused={run.refused}
        onChange={run.setDraft}
      />
      <CallOptions
        value={run.options}
        onChange={run.setOptions}
        taskSupport={tool.execution?.taskSupport}
        taskObstacle={server.state === "CONNECTED" ? taskObstacle(server) : null}
        isHttp={takesHeaders(server)}
      />
      <SavedCallList serverId={server_id} tool={name} onChoose={run.fill} />
      {(problem || error) && (
        <div className="stack" ref={note}>
          {problem && <Callout>{problem}</Callout>}
          {error && <ErrorNote error={error} title="The call was not sent" />}
        </div>
      )}
    </div>
  );
}

const appModule = lazyModule(() => import("../../apps/Apps"));

/** The app of a tool, for the call that it was shown for. */
function ToolApp({ call }: { call: CallView }) {
  const module = useModule(appModule);
  if (!module) return <ModuleLoading loader={appModule} what="the app" />;
  return <module.AppPanel serverId={call.server_id} tool={call.name} call={call} />;
}

const hasArguments = ({ inputSchema }: Tool): boolean =>
  Object.keys(fieldsOf(fieldsOf(inputSchema).properties)).length > 0;

interface FootProps {
  run: ToolCallForm;
  isConnected: boolean;
  /** Why it cannot be run. */
  disabledReason: string | null;
  canForce: boolean;
}

function ToolFoot({ run, isConnected, disabledReason, canForce }: FootProps) {
  const findings = shownFindings(run.findings, run.isTried);
  return (
    <FormFooter>
      <ButtonWithReason
        data-run
        leftSection={<Icon name="play" size={13} />}
        disabledReason={disabledReason}
        onClick={() => run.start(false)}
      >
        Run
        <RunKeys />
      </ButtonWithReason>
      {run.example && <ExampleButton example={run.example} />}
      {findings.length > 0 && <Refusal>{invalidFieldsLabel(findings)}</Refusal>}
      {(canForce || findings.length > 0) && (
        <SendAnyway disabled={!isConnected} onClick={() => run.start(true)} />
      )}
    </FormFooter>
  );
}

export function ToolPanel(props: Props) {
  const { server, tool, itemKey, listed } = props;
  const { calls, current, isNamed, show } = useItemCalls(server.server_id, "tool", itemKey);
  const run = useToolCall(server, tool, itemKey, show);
  const choice = useMemo(() => ({ calls, onChoose: show }), [calls, show]);
  const hasApp = appUriOf(listed) !== null;
  const app = useMemo(
    () => (hasApp && current ? <ToolApp call={current} /> : undefined),
    [hasApp, current],
  );
  const place = useScrollIntoView(current?.call_id, isNamed);
  const [tab, setTab] = useState<string | null>("arguments");
  // What is wrong with the arguments is among them.
  useEffect(() => {
    if (run.refused > 0) setTab("arguments");
  }, [run.refused]);
  const isConnected = server.state === "CONNECTED";
  const barred = callObstacle(server, tool);
  const disabledReason = isConnected ? barred : "The server is not connected";
  useRunShortcut(() => disabledReason === null && run.start(false));
  const left = (
    <div className="pane">
      <div className="scroll hug pad">
        <div className="stack">
          <About {...props} />
          <Tabs value={tab} onChange={setTab} keepMounted={false}>
            <Tabs.List mb="md">
              <Tabs.Tab value="arguments">Call</Tabs.Tab>
              <Tabs.Tab value="schema">Schema</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="arguments" keepMounted>
              <ToolForm server={server} tool={tool} run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="schema">
              <Schemas tool={tool} listed={listed} />
            </Tabs.Panel>
          </Tabs>
        </div>
      </div>
      <ToolFoot
        run={run}
        isConnected={isConnected}
        disabledReason={disabledReason}
        canForce={barred !== null || run.canForce}
      />
    </div>
  );
  const right = (
    <div className="pane" ref={place}>
      {current && (
        <ResultHeading
          name={itemTitle(tool)}
          to={pathTo(server.server_id, "tools")}
          others="Other tools"
        />
      )}
      {current ? (
        <CallPanel
          key={current.call_id}
          call={current}
          hasSchema={tool.outputSchema !== undefined}
          app={app}
          onRepeated={show}
          choice={choice}
        />
      ) : (
        <EmptyState icon="play" title="Not called yet">
          {hasArguments(tool) ? "Fill in the arguments and press Run" : "Press Run"}, or Ctrl Enter.
        </EmptyState>
      )}
    </div>
  );
  return (
    <SplitPane
      name="tools.call"
      label="Width of the form"
      {...FORM_WIDTH}
      narrow="flowing"
      first={left}
      second={right}
    />
  );
}
