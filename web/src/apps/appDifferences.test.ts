import { expect, it } from "vitest";
import { type AppRun, appDifferences } from "./appDifferences";
import { initialState } from "./appState";
import { profileFrom } from "./hostProfiles";
import { type HostSettings, PROFILES } from "./hostSettings";

const run = (profile: string, part: Partial<AppRun> = {}): AppRun => ({
  view: null,
  state: { ...initialState("inline"), phase: "initialized" },
  violations: [],
  reason: null,
  settings: PROFILES[profile] as HostSettings,
  ...part,
});

it("lists what differs between two hosts, and of lists only the lines of one side", () => {
  const spec = run("Specification", { reason: "The app is blank." });
  const found = appDifferences(spec, run("Reference host"));
  expect(found).toEqual([
    { what: "Shown", left: "The app is blank.", right: "yes" },
    { what: "Capabilities", left: "downloadFile\nmessage\nsampling", right: "–" },
    { what: "Display modes", left: "fullscreen", right: "–" },
  ]);
  expect(appDifferences(spec, spec)).toEqual([]);
});

it("takes a profile of a file as far as it is right, and never its leave for private addresses", () => {
  const given = {
    policy: "reference",
    width: 320,
    theme: "pink",
    allowsPrivate: true,
    modes: ["pip"],
  };
  const found = profileFrom(given);
  expect(found).toMatchObject({ policy: "reference", width: 320, theme: null, maxHeight: 600 });
  expect(found.modes).toEqual(["inline", "pip"]);
  expect(found.allowsPrivate).toBe(false);
  expect(profileFrom(null)).toEqual(PROFILES.Specification);
  const some = profileFrom({ capabilities: ["openLinks", "flying"], touch: true });
  expect([some.capabilities, some.isTouch]).toEqual([["openLinks"], true]);
});
