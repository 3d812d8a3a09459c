// The screen without servers: paste one, take one that another tool has, or try the demo.
import { Anchor, Button, Textarea } from "@mantine/core";
import { type KeyboardEvent, useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import type { ErrorView, FoundView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { useBusy } from "../../components/useBusy";
import { command } from "../../state/commands";
import { useInspector } from "../../state/store";
import { errorViewOf } from "../../state/toasts";
import { useConnectAndShow } from "./addedServers";
import css from "./FirstStart.module.css";
import { freeName, toolTitle, variableAndHeaderNames } from "./foundServers";
import { isCompleteTarget, isFileContent, joinLines } from "./pastedText";

/** Servers of other tools on this computer, by tool. */
function useFoundTools(): [string, number][] {
  const [found, setFound] = useState<FoundView[]>([]);
  useEffect(() => {
    // The dialog shows why they cannot be read.
    command("FoundServers", {}).then(setFound, () => {});
  }, []);
  const counts = new Map<string, number>();
  for (const { source } of found) counts.set(source.kind, (counts.get(source.kind) ?? 0) + 1);
  return [...counts];
}

// Typing goes on; a pasted line is read at once.
const PAUSE_MS = 250;

/** What a line would add, as it was understood, before anything is started; null if not yet known. */
function useUnderstood(text: string): FoundView | null {
  const [read, setRead] = useState<{ text: string; one: FoundView } | null>(null);
  useEffect(() => {
    if (!isCompleteTarget(text) || isFileContent(text)) return;
    const timer = setTimeout(() => {
      // Connect says what is wrong with it.
      command("ParseTarget", { text: joinLines(text) }).then(
        (one) => setRead({ text, one }),
        () => setRead(null),
      );
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return read?.text === text ? read.one : null;
}

function Understood({ one, name }: { one: FoundView; name: string }) {
  return (
    <>
      {one.command ? "Starts" : "Connects to"} <code>{one.shown}</code>, named{" "}
      <strong>{name}</strong>
      {variableAndHeaderNames(one).map(([what, names]) => ` · ${what}: ${names}`)}
    </>
  );
}

export function FirstStart() {
  const [, setQuery] = useSearchParams();
  const [text, setText] = useState("");
  const [error, setError] = useState<ErrorView | null>(null);
  const { isBusy, run } = useBusy();
  const tools = useFoundTools();
  const servers = useInspector((state) => state.servers);
  const connectAndShow = useConnectAndShow();
  const understood = useUnderstood(text);
  const openDialog = (tab: string, state?: object): void => setQuery({ add: tab }, { state });
  const connect = async (): Promise<void> => {
    setError(null);
    if (isFileContent(text)) return openDialog("", { text });
    try {
      const one = await command("ParseTarget", { text: joinLines(text) });
      // What is missing is asked for in the dialog.
      if (!one.can_be_added || one.problems.length > 0) return openDialog("", { text });
      const name = freeName(one.name, servers);
      const { servers: added } = await command("ServerAdd", { name, raw: one.raw });
      connectAndShow(added[0] ?? name);
    } catch (thrown) {
      setError(errorViewOf(thrown));
    }
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || !text.trim()) return;
    event.preventDefault();
    run(connect);
  };
  return (
    <section className={css.first} aria-label="Connect a server">
      <div className="stack">
        <h1 className="title">Connect a server</h1>
        <div className={css.line}>
          <Textarea
            aria-label="Command, URL or configuration"
            placeholder="npx -y @modelcontextprotocol/server-everything"
            inputWrapperOrder={["input", "description"]}
            description={
              understood ? (
                <Understood one={understood} name={freeName(understood.name, servers)} />
              ) : (
                "A command, a URL, or a piece of any tool's configuration"
              )
            }
            autosize
            minRows={1}
            maxRows={12}
            autoFocus
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            onKeyDown={onKey}
            classNames={{ input: css.field, description: css.hint ?? "" }}
          />
          <Button
            className={css.connect}
            disabled={!text.trim()}
            loading={isBusy}
            onClick={() => run(connect)}
          >
            Connect
          </Button>
        </div>
        {error && <ErrorNote error={error} />}
      </div>
      {tools.length > 0 && (
        <div className="stack tight">
          <h2 className="section-title">On this computer</h2>
          <div className={css.tools}>
            {tools.map(([kind, count]) => (
              <Button
                key={kind}
                variant="default"
                onClick={() => openDialog("tools", { tool: kind })}
              >
                {toolTitle(kind)}&nbsp;<span className="dim">{count}</span>
              </Button>
            ))}
          </div>
        </div>
      )}
      <span className="dim">
        {servers.has("demo") && (
          <>
            Or look around with the{" "}
            <Anchor component="button" type="button" onClick={() => connectAndShow("demo")}>
              demo server
            </Anchor>
            {" · "}
          </>
        )}
        <Anchor component="button" type="button" onClick={() => openDialog("form")}>
          Fill in a form
        </Anchor>
      </span>
    </section>
  );
}
