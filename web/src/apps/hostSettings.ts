// How the host presents itself to an app: capabilities, context and policy, chosen by a person.
import type { AppView } from "../api/types";

export type DisplayMode = "inline" | "fullscreen" | "pip";

/** What the host can do for an app. */
export const CAPABILITIES = [
  "openLinks",
  "downloadFile",
  "serverTools",
  "serverResources",
  "logging",
  "message",
  "updateModelContext",
  "sampling",
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** What an app can ask for, and the feature of a frame that gives it. */
export const PERMISSIONS = {
  camera: "camera",
  microphone: "microphone",
  geolocation: "geolocation",
  clipboardWrite: "clipboard-write",
} as const;
export type Permission = keyof typeof PERMISSIONS;

export interface HostSettings {
  policy: AppView["profile"];
  /** Whether an app that declares private addresses may reach them. */
  allowsPrivate: boolean;
  /** Null: as the page. */
  theme: "light" | "dark" | null;
  displayMode: DisplayMode;
  modes: DisplayMode[];
  /** The width of the frame; null: all there is. */
  width: number | null;
  /** The height that an inline app may grow to. */
  maxHeight: number;
  /** Empty: as the browser. */
  locale: string;
  timeZone: string;
  safeArea: number;
  isTouch: boolean;
  capabilities: Capability[];
  /** What an app that asks for it is given; the browser may ask the person once more. */
  permissions: Permission[];
}

/** What a person allows one app beyond its policy. */
export type Grants = Pick<HostSettings, "allowsPrivate" | "permissions">;
export const NO_GRANTS: Grants = { allowsPrivate: false, permissions: [] };

/** The built-in hosts: what the specification describes, and what the reference host does. */
export const PROFILES: Record<string, HostSettings> = {
  Specification: {
    policy: "specification",
    allowsPrivate: false,
    theme: null,
    displayMode: "inline",
    modes: ["inline", "fullscreen"],
    width: null,
    maxHeight: 600,
    locale: "",
    timeZone: "",
    safeArea: 0,
    isTouch: false,
    capabilities: [...CAPABILITIES],
    permissions: [],
  },
  "Reference host": {
    policy: "reference",
    allowsPrivate: false,
    theme: null,
    displayMode: "inline",
    modes: ["inline"],
    width: null,
    maxHeight: 6000,
    locale: "",
    timeZone: "",
    safeArea: 0,
    isTouch: false,
    capabilities: ["openLinks", "serverTools", "serverResources", "logging", "updateModelContext"],
    permissions: ["clipboardWrite"],
  },
};

export const DEVICES: Record<string, number | null> = {
  "Full width": null,
  "Phone, 390 px": 390,
  "Small phone, 320 px": 320,
  "Tablet, 768 px": 768,
  "Chat column, 720 px": 720,
};

/** Variables of the specification, from those of the page. */
const VARIABLES: Record<string, string> = {
  "--color-background-primary": "--surface",
  "--color-background-secondary": "--surface-2",
  "--color-background-tertiary": "--surface-3",
  "--color-text-primary": "--ink",
  "--color-text-secondary": "--ink-2",
  "--color-text-tertiary": "--ink-3",
  "--color-border-primary": "--line",
  "--color-border-secondary": "--line-strong",
  "--color-ring-primary": "--accent",
  "--border-radius-md": "--radius-control",
  "--border-radius-lg": "--radius-panel",
  "--font-text-md-size": "--text-body",
};

function styleVariables(): Record<string, string> {
  const style = getComputedStyle(document.documentElement);
  const found = Object.entries(VARIABLES).map(([theirs, ours]) => [
    theirs,
    style.getPropertyValue(ours).trim(),
  ]);
  return {
    ...Object.fromEntries(found.filter(([, value]) => value !== "")),
    "--font-sans": "system-ui, sans-serif",
    "--font-mono": "ui-monospace, monospace",
  };
}

export interface FrameSize {
  width: number;
  height: number;
}

/** The context that an app is told, apart from its tool. */
export function hostContext(
  settings: HostSettings,
  pageTheme: "light" | "dark",
  frame: FrameSize,
): Record<string, unknown> {
  const { displayMode, modes, safeArea: inset, isTouch } = settings;
  const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const isInline = displayMode === "inline";
  return {
    theme: settings.theme ?? pageTheme,
    styles: { variables: styleVariables() },
    displayMode,
    availableDisplayModes: modes,
    containerDimensions: isInline
      ? { width: frame.width, maxHeight: settings.maxHeight }
      : { width: frame.width, height: frame.height },
    locale: settings.locale || locale,
    timeZone: settings.timeZone || timeZone,
    userAgent: "mcplens",
    platform: settings.isTouch ? "mobile" : "web",
    deviceCapabilities: { touch: isTouch, hover: !isTouch },
    safeAreaInsets: { top: inset, right: inset, bottom: inset, left: inset },
  };
}

/** The members of a context that differ from the former one. */
export function changedContext(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Record<string, unknown> {
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return Object.fromEntries(changed);
}
