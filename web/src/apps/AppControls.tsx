// What a person can change about the host that an app runs in.
import { NativeSelect, Switch, TextInput } from "@mantine/core";
import { NumberInput } from "../components/NumberInput";
import css from "./AppPanel.module.css";
import {
  CAPABILITIES,
  type Capability,
  DEVICES,
  type DisplayMode,
  type HostSettings,
  NO_GRANTS,
} from "./hostSettings";

interface Props {
  settings: HostSettings;
  profiles: Record<string, HostSettings>;
  onChange(settings: HostSettings): void;
}

const CUSTOM = "Custom";
const MODES: DisplayMode[] = ["inline", "fullscreen", "pip"];

// What an app is granted is not part of how a host presents itself.
const presented = (settings: HostSettings | undefined): string =>
  JSON.stringify({ ...settings, ...NO_GRANTS });

const nameOf = ({ settings, profiles }: Props): string =>
  Object.keys(profiles).find((name) => presented(profiles[name]) === presented(settings)) ?? CUSTOM;

const deviceOf = (width: number | null): string =>
  Object.keys(DEVICES).find((name) => DEVICES[name] === width) ?? CUSTOM;

function Context({ settings, onChange }: Pick<Props, "settings" | "onChange">) {
  const set = (part: Partial<HostSettings>): void => onChange({ ...settings, ...part });
  const number = (value: string | number, otherwise: number): number =>
    typeof value === "number" ? value : otherwise;
  return (
    <>
      <NativeSelect
        size="xs"
        label="Theme"
        data={["As the page", "light", "dark"]}
        value={settings.theme ?? "As the page"}
        onChange={({ currentTarget: { value } }) =>
          set({ theme: value === "light" || value === "dark" ? value : null })
        }
      />
      <NativeSelect
        size="xs"
        label="Display mode"
        data={settings.modes}
        value={settings.displayMode}
        onChange={({ currentTarget: { value } }) => set({ displayMode: value as DisplayMode })}
      />
      <NativeSelect
        size="xs"
        label="Device"
        data={[...Object.keys(DEVICES), CUSTOM]}
        value={deviceOf(settings.width)}
        onChange={({ currentTarget: { value } }) =>
          set({ width: value === CUSTOM ? 500 : (DEVICES[value] ?? null) })
        }
      />
      <NumberInput
        label="Width in px"
        placeholder="Full width"
        min={100}
        max={4000}
        value={settings.width ?? ""}
        onChange={(value) => set({ width: typeof value === "number" ? value : null })}
      />
      <NumberInput
        label="Greatest height in px"
        min={50}
        max={10000}
        value={settings.maxHeight}
        onChange={(value) => set({ maxHeight: number(value, 600) })}
      />
      <TextInput
        label="Locale"
        placeholder={navigator.language}
        value={settings.locale}
        onChange={({ currentTarget: { value } }) => set({ locale: value })}
      />
      <TextInput
        label="Time zone"
        placeholder={Intl.DateTimeFormat().resolvedOptions().timeZone}
        value={settings.timeZone}
        onChange={({ currentTarget: { value } }) => set({ timeZone: value })}
      />
      <NumberInput
        label="Safe area in px"
        min={0}
        max={200}
        value={settings.safeArea}
        onChange={(value) => set({ safeArea: number(value, 0) })}
      />
    </>
  );
}

/** The controls; changes of policy, modes and capabilities open the app anew. */
export function AppControls(props: Props) {
  const { settings, profiles, onChange } = props;
  const set = (part: Partial<HostSettings>): void => onChange({ ...settings, ...part });
  const toggled = <T,>(all: readonly T[], chosen: readonly T[], one: T): T[] =>
    all.filter((each) => (each === one ? !chosen.includes(one) : chosen.includes(each)));
  const profile = nameOf(props);
  const names = Object.keys(profiles);
  return (
    <section className="stack" aria-label="Host">
      <div className={css.controls}>
        <NativeSelect
          size="xs"
          label="Host profile"
          data={profile === CUSTOM ? [...names, CUSTOM] : names}
          value={profile}
          onChange={({ currentTarget: { value } }) => onChange(profiles[value] ?? settings)}
        />
        <NativeSelect
          size="xs"
          label="Policy"
          data={[
            { value: "specification", label: "Specification" },
            { value: "reference", label: "Reference host" },
          ]}
          value={settings.policy}
          onChange={({ currentTarget: { value } }) =>
            set({ policy: value as HostSettings["policy"] })
          }
        />
        <Context settings={settings} onChange={onChange} />
      </div>
      <div className={css.controls}>
        <Switch
          label="Touch"
          checked={settings.isTouch}
          onChange={() => set({ isTouch: !settings.isTouch })}
        />
        <Switch
          label="Allow private addresses"
          checked={settings.allowsPrivate}
          onChange={() => set({ allowsPrivate: !settings.allowsPrivate })}
        />
        <Switch
          label="Allow writing to the clipboard"
          checked={settings.allowsClipboard}
          onChange={() => set({ allowsClipboard: !settings.allowsClipboard })}
        />
        {MODES.map((mode) => (
          <Switch
            key={mode}
            label={`Offers ${mode}`}
            checked={settings.modes.includes(mode)}
            disabled={mode === "inline"}
            onChange={() => set({ modes: toggled(MODES, settings.modes, mode) })}
          />
        ))}
        {CAPABILITIES.map((one: Capability) => (
          <Switch
            key={one}
            label={`Advertises ${one}`}
            checked={settings.capabilities.includes(one)}
            onChange={() =>
              set({ capabilities: toggled(CAPABILITIES, settings.capabilities, one) })
            }
          />
        ))}
      </div>
    </section>
  );
}
