// Every setting with its default and where its value comes from.
import { Badge, Button, JsonInput, NumberInput, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import type { SettingView } from "../../api/types";
import { SearchField } from "../../parts/SearchField";
import { pretty } from "../../parts/text";
import { telling } from "../../state/actions";
import { command } from "../../state/connection";
import { pathToServer, useCurrentServer } from "../../state/selection";
import { useInspector } from "../../state/store";

const set = (name: string, value: unknown): void =>
  void telling("The setting was not changed", command("SetSetting", { name, value }));

function Field({ setting }: { setting: SettingView }) {
  const { name, value, is_editable } = setting;
  const [text, setText] = useState(String(value ?? ""));
  if (typeof value === "boolean")
    return (
      <Switch
        aria-label={name}
        checked={value}
        disabled={!is_editable}
        onChange={(event) => set(name, event.currentTarget.checked)}
      />
    );
  if (typeof value === "number") {
    return (
      <NumberInput
        aria-label={name}
        defaultValue={value}
        key={value}
        disabled={!is_editable}
        w={160}
        onBlur={(event) =>
          Number(event.currentTarget.value) !== value &&
          set(name, Number(event.currentTarget.value))
        }
      />
    );
  }
  if (typeof value === "object" && value !== null)
    return <JsonInput aria-label={name} readOnly autosize maxRows={8} value={pretty(value)} />;
  return (
    <TextInput
      aria-label={name}
      value={text}
      disabled={!is_editable}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={() => text !== String(value ?? "") && set(name, text === "" ? null : text)}
    />
  );
}

const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export function Settings() {
  const settings = useInspector((state) => state.settings);
  const version = useInspector((state) => state.version);
  const server = useCurrentServer();
  const [text, setText] = useState("");
  const shown = [...settings.values()].filter((setting) =>
    setting.name.toLowerCase().includes(text.toLowerCase()),
  );
  return (
    <div className="pane">
      <div className="toolbar">
        <h1 className="title">Settings</h1>
        <span className="dim">mcplens {version}</span>
        <span className="grow" />
        <SearchField label="Filter settings" value={text} onChange={setText} />
      </div>
      <div className="scroll pad">
        <div className="stack" style={{ maxWidth: 960 }}>
          {server && (
            <p style={{ margin: 0 }}>
              Of {server.title ?? server.server_id}:{" "}
              <Link to={pathToServer(server.server_id, "roots")}>roots</Link>,{" "}
              <Link to={pathToServer(server.server_id, "experimental")}>
                experimental features and raw JSON-RPC
              </Link>
              .
            </p>
          )}
          <table className="plain stacking">
            <thead>
              <tr>
                <th>Setting</th>
                <th>Value</th>
                <th className="wide-only">From</th>
                <th className="wide-only">Default</th>
                <th>
                  <span className="sr">Reset</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((setting) => (
                <tr key={setting.name}>
                  <td className="mono">{setting.name}</td>
                  <td>
                    <Field key={JSON.stringify(setting.value)} setting={setting} />
                  </td>
                  <td className="wide-only">
                    <Badge color={setting.source === "default" ? "gray" : "lens"}>
                      {setting.source}
                    </Badge>
                  </td>
                  <td className="mono dim wide-only">{JSON.stringify(setting.default)}</td>
                  <td>
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      disabled={!setting.is_editable || same(setting.value, setting.default)}
                      onClick={() => set(setting.name, null)}
                    >
                      Reset
                    </Button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
    </div>
  );
}
