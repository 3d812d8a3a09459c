// Every setting with its default and where its value comes from.
import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { Link, useSearchParams } from "react-router";
import type { ServerView, SettingView } from "../../api/types";
import { NoSearchMatches } from "../../components/NoMatches";
import { SearchField } from "../../components/SearchField";
import { pathToServer, serverName, useCurrentServer } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { Appearance, isAppearanceFound } from "./Appearance";
import { SettingField } from "./SettingField";
import css from "./Settings.module.css";
import { groupSettings, labelOf } from "./settingLabels";
import { changeSetting, isSameValue } from "./settingValues";

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === "object" && Object.keys(value).length === 0);

/** A default as its field would show it: a text without quotes. */
export function shownDefault(value: unknown): string {
  if (isEmpty(value)) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Row({ setting }: { setting: SettingView }) {
  const { name, description, source, is_editable, note } = setting;
  const isDefault = source === "default";
  const hasDefault = isDefault && isSameValue(setting.value, setting.default);
  return (
    <tr>
      <td>
        <div className={css.name}>{labelOf(setting)}</div>
        <div className="dim">{description}</div>
        <div className={`mono dim ${css.key}`}>{name}</div>
      </td>
      <td className={css.value}>
        <SettingField key={JSON.stringify(setting.value)} setting={setting} />
        {!is_editable && (
          <div className="dim">{isDefault ? "Set in a file only." : "The file overrides it."}</div>
        )}
        {note && <div className="dim">{note}</div>}
      </td>
      <td className={css.fact}>
        <span className={`dim ${css.label}`}>From </span>
        <span className={isDefault ? "dim" : ""}>{source}</span>
      </td>
      <td className={hasDefault ? `${css.fact} ${css.repeated}` : css.fact}>
        <span className={`dim ${css.label}`}>Default </span>
        <span className="mono dim">{shownDefault(setting.default)}</span>
      </td>
      <td>
        {is_editable && !hasDefault && (
          <Button
            size="compact-xs"
            variant="subtle"
            aria-label={`Reset ${labelOf(setting)}`}
            onClick={() => changeSetting(name, null)}
          >
            Reset
          </Button>
        )}
      </td>
    </tr>
  );
}

function Group({ title, settings }: { title: string; settings: SettingView[] }) {
  return (
    <tbody>
      <tr>
        <th colSpan={5} scope="rowgroup" className={css.group}>
          {title}
        </th>
      </tr>
      {settings.map((setting) => (
        <Row key={setting.name} setting={setting} />
      ))}
    </tbody>
  );
}

function Table({ groups }: { groups: [title: string, settings: SettingView[]][] }) {
  return (
    <table className={`plain stacking ${css.table}`}>
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
      {groups.map(([title, settings]) => (
        <Group key={title} title={title} settings={settings} />
      ))}
    </table>
  );
}

/** Links to the settings of the current server. */
function ServerSettingsLinks({ server }: { server: ServerView }) {
  const { server_id } = server;
  return (
    <p className="dim" style={{ margin: 0 }}>
      Only for {serverName(server)}:{" "}
      {server.is_editable && (
        <>
          <Link to={`/servers?edit=${encodeURIComponent(server_id)}`}>
            its timeouts and other options
          </Link>
          ,{" "}
        </>
      )}
      <Link to={pathToServer(server_id)}>who answers its questions</Link>,{" "}
      <Link to={pathToServer(server_id, "roots")}>roots</Link>,{" "}
      <Link to={pathToServer(server_id, "experimental")}>
        experimental features and raw JSON-RPC
      </Link>
      .
    </p>
  );
}

export function Settings() {
  const settings = useInspector((state) => state.settings);
  const version = useInspector((state) => state.version);
  const server = useCurrentServer();
  const [query] = useSearchParams();
  // The palette leads to one setting by its name.
  const [text, setText] = useState(query.get("find") ?? "");
  const found = query.get("find");
  useEffect(() => {
    if (found !== null) setText(found);
  }, [found]);
  const needle = text.trim().toLowerCase();
  const shown = [...settings.values()].filter((one) =>
    `${one.name} ${labelOf(one)} ${one.description}`.toLowerCase().includes(needle),
  );
  const hasAppearance = isAppearanceFound(needle);
  return (
    <div className="pane">
      <div className="toolbar">
        <h1 className="title">Settings</h1>
        <span className="dim">mcplens {version}</span>
        <a className="dim" href="/docs/notices" target="_blank" rel="noreferrer">
          Licences
        </a>
        <span className="grow" />
        <SearchField label="Filter settings" value={text} onChange={setText} />
      </div>
      <div className="scroll pad">
        <div className="stack" style={{ maxWidth: 1080 }}>
          {hasAppearance && <Appearance />}
          {(shown.length > 0 || settings.size === 0) && <Table groups={groupSettings(shown)} />}
          {server && needle === "" && <ServerSettingsLinks server={server} />}
          {shown.length === 0 && settings.size > 0 && !hasAppearance && (
            <NoSearchMatches text={text} onClear={() => setText("")} />
          )}
        </div>
      </div>
    </div>
  );
}
