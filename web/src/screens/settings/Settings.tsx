// Every setting with its default and where its value comes from.
import { Button } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import type { SettingView } from "../../api/types";
import { NoHits } from "../../parts/NoHits";
import { SearchField } from "../../parts/SearchField";
import { nameOf, pathToServer, useCurrentServer } from "../../state/selection";
import { useInspector } from "../../state/store";
import { SettingField } from "./SettingField";
import css from "./Settings.module.css";
import { change, same } from "./setting";

function Row({ setting }: { setting: SettingView }) {
  const { name, description, source, is_editable, is_used, note } = setting;
  const isDefault = source === "default";
  return (
    <tr>
      <td>
        <div className="mono">{name}</div>
        <div className="dim">{description}</div>
      </td>
      <td className={css.value}>
        <SettingField key={JSON.stringify(setting.value)} setting={setting} />
        {!is_editable && is_used && (
          <div className="dim">{isDefault ? "Set in a file only." : "That file decides."}</div>
        )}
        {note && <div className="dim">{note}</div>}
      </td>
      <td className={css.fact}>
        <span className={`dim ${css.label}`}>From </span>
        <span className={isDefault ? "dim" : ""}>{source}</span>
      </td>
      <td className={css.fact}>
        <span className={`dim ${css.label}`}>Default </span>
        <span className="mono dim">
          {setting.default === null ? "none" : JSON.stringify(setting.default)}
        </span>
      </td>
      <td>
        <Button
          size="compact-xs"
          variant="subtle"
          aria-label={`Reset ${name}`}
          disabled={!is_editable || (isDefault && same(setting.value, setting.default))}
          onClick={() => change(name, null)}
        >
          Reset
        </Button>
      </td>
    </tr>
  );
}

function Table({ settings }: { settings: SettingView[] }) {
  return (
    <table className="plain stacking">
      <thead>
        <tr>
          <th>Setting</th>
          <th>Value</th>
          <th>From</th>
          <th>Default</th>
          <th>
            <span className="sr">Reset</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {settings.map((setting) => (
          <Row key={setting.name} setting={setting} />
        ))}
      </tbody>
    </table>
  );
}

export function Settings() {
  const settings = useInspector((state) => state.settings);
  const version = useInspector((state) => state.version);
  const server = useCurrentServer();
  const [text, setText] = useState("");
  const needle = text.trim().toLowerCase();
  const shown = [...settings.values()].filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(needle),
  );
  const used = shown.filter((setting) => setting.is_used);
  const unused = shown.filter((setting) => !setting.is_used);
  return (
    <div className="pane">
      <div className="toolbar">
        <h1 className="title">Settings</h1>
        <span className="dim">mcplens {version}</span>
        <span className="grow" />
        <SearchField label="Filter settings" value={text} onChange={setText} />
      </div>
      <div className="scroll pad">
        <div className="stack" style={{ maxWidth: 1080 }}>
          {server && (
            <p style={{ margin: 0 }}>
              Of {nameOf(server)}: <Link to={pathToServer(server.server_id, "roots")}>roots</Link>,{" "}
              <Link to={pathToServer(server.server_id, "experimental")}>
                experimental features and raw JSON-RPC
              </Link>
              .
            </p>
          )}
          {(used.length > 0 || settings.size === 0) && <Table settings={used} />}
          {unused.length > 0 && (
            <details open={needle !== ""}>
              <summary className="dim">Not used by this version yet: {unused.length}</summary>
              <Table settings={unused} />
            </details>
          )}
          {shown.length === 0 && settings.size > 0 && (
            <NoHits text={text} onClear={() => setText("")} />
          )}
        </div>
      </div>
    </div>
  );
}
