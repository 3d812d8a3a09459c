// Palette entries for places that have no tab: parts of a server, earlier sessions, collections,
// single settings, and where a call is copied as curl.
import { useEffect, useMemo, useState } from "react";
import { fetchRuns } from "../api/http";
import type { CallView, CollectionFileView, RunView, ServerView } from "../api/types";
import { canCurl, isSafeCommand } from "../calls/copyAs";
import { labelOf } from "../screens/settings/settingLabels";
import { command } from "../state/commands";
import {
  pathTo,
  pathToCall,
  pathToCollection,
  pathToServer,
  serverName,
} from "../state/navigation";
import { useInspector } from "../state/store";
import { formatDateTime, formatRunSize } from "../values/format";
import type { Entry } from "./paletteEntries";

// Enough to find yesterday's; Traffic lists all of them.
const MOST_RUNS = 50;

/** The formats that the menu of a call offers, as its "Copy as" does. */
function copyFormats(server: ServerView, last: CallView | undefined): string {
  // A name of a header or a server that is not safe in a shell.
  const isSafe = (!last || isSafeCommand(last, server)) && !server.server_id.startsWith("-");
  if (!isSafe) return "Python";
  return canCurl(server) ? "curl, Python or a command" : "Python or a command";
}

/** Leads to where the latest call is copied. */
function copyEntry(server: ServerView, last: CallView | undefined): Entry {
  const formats = copyFormats(server, last);
  return {
    key: "copy as",
    icon: "copy",
    label: `Copy ${last ? last.name || last.method : "a call"} as ${formats}`,
    about: last ? "beside its result" : "beside the result of a call",
    words: "python cli shell code snippet export share copy as",
    to: last ? pathToCall(last) : pathTo(server.server_id, "tools"),
    focus: "heading",
  };
}

/** Parts of the current server, and its latest call. */
export function usePlaces(server: ServerView | null): Entry[] {
  const calls = useInspector((state) => state.calls);
  return useMemo(() => {
    if (!server) return [];
    const { server_id } = server;
    const name = serverName(server);
    const own = [...calls.values()].filter((call) => call.server_id === server_id);
    const last = own.filter((call) => call.kind !== "raw").at(-1);
    return [
      {
        key: "raw tester",
        icon: "edit",
        label: "Send a raw JSON-RPC message",
        about: name,
        words: "raw json-rpc jsonrpc tester bytes custom request experimental",
        to: pathTo(server_id, "raw"),
        focus: "heading",
      },
      {
        key: "experimental",
        icon: "info",
        label: "Experimental capabilities",
        about: name,
        words: "experimental features extensions",
        to: pathToServer(server_id, "experimental"),
        focus: "heading",
      },
      {
        key: "roots",
        icon: "folder",
        label: "Roots",
        about: name,
        words: "folders directories workspace",
        to: pathToServer(server_id, "roots"),
        focus: "heading",
      },
      {
        key: "history",
        icon: "traffic",
        label: "History of messages",
        about: name,
        words: "earlier sessions runs recording yesterday past log traffic",
        comesLast: true,
        to: pathTo(server_id, "traffic"),
      },
      copyEntry(server, last),
    ];
  }, [server, calls]);
}

/** The day of a session as people call it. */
function dayOf(started: number): string {
  const day = new Date();
  day.setDate(day.getDate() - 1);
  return new Date(started * 1000).toDateString() === day.toDateString() ? ", yesterday" : "";
}

const sessionEntry = (run: RunView): Entry => ({
  key: `session ${run.run_id}`,
  icon: "traffic",
  label: `Session of ${formatDateTime(run.started)}${dayOf(run.started)}`,
  about: [run.servers.join(", ") || run.title, ...run.called, formatRunSize(run)].join(" · "),
  words: "earlier session run history recording yesterday past",
  to: `/traffic?run=${encodeURIComponent(run.run_id)}`,
});

const collectionEntry = (file: CollectionFileView): Entry => ({
  key: `collection ${file.key}`,
  icon: "collections",
  label: file.name,
  about: `collection${file.folder && !file.is_given ? ` · ${file.folder}` : ""}`,
  words: "saved calls run yaml",
  to: pathToCollection(file.key),
  focus: "heading",
});

/** Earlier sessions and collections; read when the palette opens. */
export function useKeptEntries(): Entry[] {
  const current = useInspector((state) => state.run_id);
  const [runs, setRuns] = useState<RunView[]>([]);
  const [files, setFiles] = useState<CollectionFileView[]>([]);
  useEffect(() => {
    fetchRuns(MOST_RUNS).then(
      (page) => setRuns(page.runs),
      () => {},
    );
    command("ListCollections", {}).then(
      (list) => setFiles(list.files),
      () => {},
    );
  }, []);
  return useMemo(
    () => [
      ...files.map(collectionEntry),
      ...runs.filter((run) => run.run_id !== current).map(sessionEntry),
    ],
    [files, runs, current],
  );
}

/** Each setting by its label and its key. */
export function useSettingEntries(): Entry[] {
  const settings = useInspector((state) => state.settings);
  return useMemo(
    () =>
      [...settings.values()].map((setting) => ({
        key: `setting ${setting.name}`,
        icon: "settings" as const,
        label: labelOf(setting),
        about: "setting",
        words: `${setting.name} ${setting.description}`,
        to: `/settings?find=${encodeURIComponent(setting.name)}`,
        focus: "heading" as const,
      })),
    [settings],
  );
}
