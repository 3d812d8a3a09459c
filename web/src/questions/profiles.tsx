// One-line descriptions of testing profiles.
import type { SelectProps } from "@mantine/core";
import type { ProfileView } from "../api/types";
import { Icon } from "../components/Icon";

// The backend's profile that can answer anything.
export const AUTO = "auto";

const TOOL = "calls the first tool that is offered; without tools, repeats what the user said last";
const BY_NAME: Record<string, string> = {
  [AUTO]: TOOL,
  "tool-use-each": "calls every tool that is offered, once",
};
const BY_KIND: Record<string, string> = {
  manual: "leaves the answer to you",
  fixed: "always gives the same answer",
  echo: "repeats what the user said last",
  "tool-use": TOOL,
  refuse: "refuses everything",
  delay: "waits, then answers like another profile",
  script: "gives scripted answers in order",
  model: "asks a model",
};

export function profileDescription(name: string, profiles: ProfileView[]): string {
  const found = profiles.find((one) => one.name === name);
  const isOwn = found?.is_built_in === false;
  return (isOwn ? undefined : BY_NAME[name]) ?? BY_KIND[found?.kind ?? name] ?? "";
}

/** For the options of a select of profiles. */
export const profileOption =
  (profiles: ProfileView[]): SelectProps["renderOption"] =>
  ({ option, checked }) => (
    <div className="row grow">
      <div className="grow">
        <div>{option.label}</div>
        <div className="dim">{profileDescription(option.value, profiles)}</div>
      </div>
      {checked && <Icon name="check" size={12} />}
    </div>
  );
