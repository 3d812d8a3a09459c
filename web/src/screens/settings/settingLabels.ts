// Labels and groups of settings, by their key in the file.
import type { SettingView } from "../../api/types";

// A Python test compares this with the backend's list of keys.
const LABELS: Record<string, string> = {
  requestTimeoutSeconds: "Request timeout",
  capabilitiesTimeoutSeconds: "Connection timeout",
  connectionRetryCount: "Retries after a failed connection",
  taskTtlSeconds: "Lifetime of tasks",
  logLevel: "Log level",
  serverOutputMegabytes: "Server output recorded in full",
  secretKeys: "Values that are never recorded",
  profiles: "Testing profiles",
  hostProfiles: "Host profiles",
  lintOff: "Lint rules to skip",
  authorizationTimeoutSeconds: "Sign-in timeout",
  capabilitiesRefreshIntervalSeconds: "Refresh interval of lists",
  cacheTtlMs: "Cache lifetime of lists",
  defaultPresetId: "Default view",
  views: "Views of the gateway",
  gateway: "Gateway",
  settings: "Settings of the page",
};

export const labelOf = ({ name }: SettingView): string => LABELS[name] ?? name;

/** The unit of a number, from the suffix of its key. */
export function unitOf({ name }: SettingView): string | null {
  if (name.endsWith("Seconds")) return "s";
  if (name.endsWith("Megabytes")) return "MB";
  return name.endsWith("Ms") ? "ms" : null;
}

const GROUPS: [title: string, names: string[]][] = [
  [
    "Connecting",
    ["capabilitiesTimeoutSeconds", "connectionRetryCount", "authorizationTimeoutSeconds"],
  ],
  ["Calls and tasks", ["requestTimeoutSeconds", "taskTtlSeconds", "logLevel"]],
  ["Recording", ["secretKeys", "serverOutputMegabytes"]],
  ["Answering servers", ["profiles"]],
  ["Checking servers", ["lintOff"]],
  ["Apps", ["hostProfiles"]],
  [
    "Gateway",
    ["gateway", "views", "defaultPresetId", "cacheTtlMs", "capabilitiesRefreshIntervalSeconds"],
  ],
];

/** Settings by group, without empty groups; the others come last. */
export function groupSettings(settings: SettingView[]): [title: string, settings: SettingView[]][] {
  const known = new Set(GROUPS.flatMap(([, names]) => names));
  const groups = GROUPS.map(([title, names]): [string, SettingView[]] => [
    title,
    names.flatMap((name) => settings.filter((one) => one.name === name)),
  ]);
  const others = settings.filter(({ name }) => !known.has(name));
  return [...groups, ["Others", others] as [string, SettingView[]]].filter(
    ([, some]) => some.length > 0,
  );
}
