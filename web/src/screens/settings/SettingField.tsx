// Input of one setting. A valid value is saved on blur.
import { Select, Switch, Textarea, TextInput } from "@mantine/core";
import { type KeyboardEvent, useState } from "react";
import type { SettingView } from "../../api/types";
import { pretty } from "../../values/json";
import { labelOf, unitOf } from "./settingLabels";
import {
  changeSetting,
  isSameValue,
  parseNames,
  parseNumber,
  parseObject,
  saveSetting,
  type TypedValue,
} from "./settingValues";

const leaveOnEnter = (event: KeyboardEvent<HTMLInputElement>): void => {
  if (event.key === "Enter") event.currentTarget.blur();
};

/** Props of a text input; an unchanged value is not saved. */
function useTextField(setting: SettingView, shown: string, read: (text: string) => TypedValue) {
  const [text, setText] = useState(shown);
  const [problem, setProblem] = useState<string | null>(null);
  const leave = (): void => {
    if (!setting.is_editable) return;
    const typed = read(text);
    const isGood = "value" in typed;
    setProblem(isGood ? null : typed.problem);
    if (isGood && !isSameValue(typed.value, setting.value))
      void saveSetting(setting.name, typed.value).then(setProblem);
  };
  return {
    "aria-label": labelOf(setting),
    readOnly: !setting.is_editable,
    value: text,
    error: problem,
    onBlur: leave,
    onChange: (event: { currentTarget: { value: string } }) => setText(event.currentTarget.value),
  };
}

function NumberField({ setting }: { setting: SettingView }) {
  const field = useTextField(setting, String(setting.value), parseNumber);
  const unit = unitOf(setting);
  return (
    <TextInput
      {...field}
      inputMode="decimal"
      rightSection={unit && <span className="dim">{unit}</span>}
      rightSectionWidth={40}
      onKeyDown={leaveOnEnter}
    />
  );
}

function TextField({ setting }: { setting: SettingView }) {
  const read = (text: string): TypedValue => ({ value: text === "" ? null : text });
  const field = useTextField(setting, String(setting.value ?? ""), read);
  return <TextInput {...field} onKeyDown={leaveOnEnter} />;
}

function ChoiceField({ setting }: { setting: SettingView }) {
  return (
    <Select
      aria-label={labelOf(setting)}
      data={setting.choices}
      value={String(setting.value)}
      allowDeselect={false}
      readOnly={!setting.is_editable}
      onChange={(value) => changeSetting(setting.name, value)}
    />
  );
}

function NamesField({ setting, names }: { setting: SettingView; names: unknown[] }) {
  const field = useTextField(setting, names.join("\n"), (text) => ({ value: parseNames(text) }));
  return <Textarea {...field} description="One per line" autosize maxRows={8} />;
}

function JsonField({ setting }: { setting: SettingView }) {
  const field = useTextField(setting, pretty(setting.value), parseObject);
  const mono = { input: { fontFamily: "var(--mono)" } };
  return <Textarea {...field} autosize maxRows={8} styles={mono} />;
}

export function SettingField({ setting }: { setting: SettingView }) {
  const { name, value, is_editable } = setting;
  if (typeof value === "boolean")
    return (
      <Switch
        aria-label={labelOf(setting)}
        checked={value}
        disabled={!is_editable}
        onChange={(event) => changeSetting(name, event.currentTarget.checked)}
      />
    );
  if (typeof value === "number") return <NumberField setting={setting} />;
  if (Array.isArray(value)) return <NamesField setting={setting} names={value} />;
  if (typeof value === "object" && value !== null) return <JsonField setting={setting} />;
  if (setting.choices.length > 0) return <ChoiceField setting={setting} />;
  return <TextField setting={setting} />;
}
