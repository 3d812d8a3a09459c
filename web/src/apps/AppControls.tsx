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
  PERMISSIONS,
  type Permission,
} from "./hostSettings";

interface Props {
  settings: HostSettings;
  profiles: Record<string, HostSettings>;
  onChange(settings: HostSettings): void;
}

const CUSTOM = "Custom";
const GRANTABLE = Object.keys(PERMISSIONS) as Permission[];
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
        onChange={(value) => set({ width: value === "" ? null : value })}
      />
      <NumberInput
        label="Greatest height in px"
        min={50}
        max={10000}
        value={settings.maxHeight}
        onChange={(value) => set({ maxHeight: value === "" ? 600 : value })}
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
        onChange={(value) => set({ safeArea: value === "" ? 0 : value })}
      />
      <Switch
        label="Touch"
        className={css.switch}
        checked={settings.isTouch}
        onChange={() => set({ isTouch: !settings.isTouch })}
      />
    </>
  );
}

// Chromium gives no camera and no microphone to what has no origin of its own, as apps have none.
const GRANTS: Record<Permission | "private", string> = {
  camera: "Camera (not in Chromium)",
  microphone: "Microphone (not in Chromium)",
  geolocation: "Location",
  clipboardWrite: "Writing to the clipboard",
  private: "Private addresses",
};

interface SwitchesProps<T extends string> {
  legend: string;
  /** The switches by what they stand for. */
  all: Record<T, string>;
  isOn(one: T): boolean;
  isFixed?(one: T): boolean;
  onToggle(one: T): void;
}

function Switches<T extends string>({ legend, all, isOn, isFixed, onToggle }: SwitchesProps<T>) {
  return (
    <fieldset className={css.group}>
      <legend>{legend}</legend>
      <div className={css.controls}>
        {(Object.keys(all) as T[]).map((one) => (
          <Switch
            key={one}
            label={all[one]}
            checked={isOn(one)}
            disabled={isFixed?.(one)}
            onChange={() => onToggle(one)}
          />
        ))}
      </div>
    </fieldset>
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
      <Switches
        legend="Granted to this app until the page is loaded anew"
        all={GRANTS}
        isOn={(one) =>
          one === "private" ? settings.allowsPrivate : settings.permissions.includes(one)
        }
        onToggle={(one) =>
          one === "private"
            ? set({ allowsPrivate: !settings.allowsPrivate })
            : set({ permissions: toggled(GRANTABLE, settings.permissions, one) })
        }
      />
      <Switches
        legend="Display modes that this host offers"
        all={{ inline: "inline", fullscreen: "fullscreen", pip: "pip" }}
        isOn={(mode) => settings.modes.includes(mode)}
        isFixed={(mode) => mode === "inline"}
        onToggle={(mode) => set({ modes: toggled(MODES, settings.modes, mode) })}
      />
      <Switches
        legend="Capabilities that this host advertises"
        all={
          Object.fromEntries(CAPABILITIES.map((one) => [one, one])) as Record<Capability, string>
        }
        isOn={(one) => settings.capabilities.includes(one)}
        onToggle={(one) => set({ capabilities: toggled(CAPABILITIES, settings.capabilities, one) })}
      />
    </section>
  );
}
