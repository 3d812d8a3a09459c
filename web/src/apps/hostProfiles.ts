// Host profiles of the configuration files, beside the two that are built in.
import { useEffect, useState } from "react";
import { command } from "../state/commands";
import { fieldsOf, type JsonObject } from "../values/jsonObject";
import { CAPABILITIES, type DisplayMode, type HostSettings, PROFILES } from "./hostSettings";

const MODES: DisplayMode[] = ["inline", "fullscreen", "pip"];

const among = <T>(all: readonly T[], value: unknown): T[] | undefined =>
  Array.isArray(value) ? all.filter((one) => value.includes(one)) : undefined;

const numeric = (value: unknown, least: number, most: number): number | undefined =>
  typeof value === "number" && value >= least && value <= most ? value : undefined;

const textual = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** A profile as a file has it; what it lacks or has wrong is as the specification has it. */
export function profileFrom(raw: unknown): HostSettings {
  const base = PROFILES.Specification as HostSettings;
  const given: JsonObject = fieldsOf(raw);
  const { theme, touch } = given;
  const modes = among(MODES, given.modes) ?? base.modes;
  return {
    ...base,
    policy: given.policy === "reference" ? "reference" : "specification",
    theme: theme === "light" || theme === "dark" ? theme : null,
    modes: modes.includes("inline") ? modes : ["inline", ...modes],
    displayMode: modes.find((one) => one === given.displayMode) ?? base.displayMode,
    width: numeric(given.width, 100, 4000) ?? null,
    maxHeight: numeric(given.maxHeight, 50, 10000) ?? base.maxHeight,
    locale: textual(given.locale) ?? "",
    timeZone: textual(given.timeZone) ?? "",
    safeArea: numeric(given.safeArea, 0, 200) ?? 0,
    isTouch: touch === true,
    capabilities: among(CAPABILITIES, given.capabilities) ?? base.capabilities,
    // Never from a file, which may be a stranger's.
    allowsPrivate: false,
    permissions: [],
  };
}

/** All profiles by name; those of the files come when they have been read. */
export function useHostProfiles(): Record<string, HostSettings> {
  const [profiles, setProfiles] = useState(PROFILES);
  useEffect(() => {
    let isGone = false;
    command("HostProfiles", {}).then(
      ({ profiles: own }) => {
        const read = Object.entries(own).map(([name, raw]) => [name, profileFrom(raw)]);
        if (!isGone && read.length > 0) setProfiles({ ...Object.fromEntries(read), ...PROFILES });
      },
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, []);
  return profiles;
}
