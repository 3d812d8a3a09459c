// The resources of a server: listed ones, templates with their variables, and what is followed.
import { Accordion, Badge } from "@mantine/core";
import { useDeferredValue, useMemo, useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import type { ServerView } from "../../api/types";
import { Empty } from "../../parts/Empty";
import { ErrorNote } from "../../parts/ErrorNote";
import { bytes, clock } from "../../parts/format";
import { ListHead } from "../../parts/ListHead";
import { LostNote } from "../../parts/LostNote";
import { NotConnected } from "../../parts/NotConnected";
import { Split } from "../../parts/Split";
import { VirtualList } from "../../parts/VirtualList";
import { type Item, offers, useItems, useList } from "../../state/lists";
import { pathTo } from "../../state/selection";
import { useInspector } from "../../state/store";
import { ResourcePanel } from "./ResourcePanel";
import css from "./Resources.module.css";
import { TemplatePanel } from "./TemplatePanel";

export interface Resource {
  uri?: string;
  uriTemplate?: string;
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: Record<string, unknown>;
}

const keyOf = (item: Item<Resource>): string => item.value.uri ?? item.value.uriTemplate ?? "";
const fits = (item: Item<Resource>, words: string[]): boolean => {
  const { name, title, description } = item.value;
  const whole = `${keyOf(item)} ${name ?? ""} ${title ?? ""} ${description ?? ""}`.toLowerCase();
  return words.every((word) => whole.includes(word));
};

const draw = (item: Item<Resource>) => (
  <>
    <div className="row">
      <span className="cut grow" style={{ fontWeight: 500 }}>
        {item.value.title ?? item.value.name ?? keyOf(item)}
      </span>
      {item.value.mimeType && <span className="dim cut">{item.value.mimeType}</span>}
      {typeof item.value.size === "number" && <span className="dim">{bytes(item.value.size)}</span>}
    </div>
    <span className="cut dim mono">{keyOf(item)}</span>
  </>
);

function Lists({
  server,
  chosen,
  template,
}: {
  server: ServerView;
  chosen: string | null;
  template: string | null;
}) {
  const { server_id } = server;
  const navigate = useNavigate();
  const held = useList(server_id, "resources");
  const heldTemplates = useList(server_id, "resource_templates");
  const resources = useItems<Resource>(held);
  const templates = useItems<Resource>(heldTemplates);
  const [text, setText] = useState("");
  const words = useDeferredValue(text).toLowerCase().split(/\s+/).filter(Boolean);
  const needle = words.join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the words are in the needle
  const shown = useMemo(() => resources.filter((item) => fits(item, words)), [resources, needle]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the words are in the needle
  const shownTemplates = useMemo(
    () => templates.filter((item) => fits(item, words)),
    [templates, needle],
  );
  const subscriptions = server.subscriptions.filter((one) =>
    words.every((word) => one.uri.toLowerCase().includes(word)),
  );
  const open = (uri: string): void => void navigate(pathTo(server_id, "resources", uri));
  return (
    <div className="pane">
      <ListHead
        serverId={server_id}
        kind="resources"
        held={held}
        noun="resources"
        text={text}
        onText={setText}
        shown={shown.length}
      />
      {held.error && <ErrorNote error={held.error} />}
      <Accordion
        multiple
        defaultValue={["resources", "templates", "subscriptions"]}
        className={css.accordion}
        classNames={{
          item: css.item,
          content: css.content,
          control: css.control,
          panel: css.panel,
        }}
      >
        <Accordion.Item value="resources">
          <Accordion.Control>Resources ({shown.length})</Accordion.Control>
          <Accordion.Panel>
            <div className={css.list} style={{ height: Math.min(shown.length * 42, 420) }}>
              <VirtualList
                label="Resources"
                items={shown}
                keyOf={keyOf}
                chosen={chosen}
                onChoose={(item) => open(keyOf(item))}
                rowHeight={42}
                draw={draw}
              />
            </div>
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="templates">
          <Accordion.Control>Templates ({shownTemplates.length})</Accordion.Control>
          <Accordion.Panel>
            <div className={css.list} style={{ height: Math.min(shownTemplates.length * 42, 260) }}>
              <VirtualList
                label="Templates"
                items={shownTemplates}
                keyOf={keyOf}
                chosen={template}
                onChoose={(item) =>
                  void navigate(
                    `${pathTo(server_id, "resources")}?template=${encodeURIComponent(keyOf(item))}`,
                  )
                }
                rowHeight={42}
                draw={draw}
              />
            </div>
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="subscriptions">
          <Accordion.Control>Subscriptions ({subscriptions.length})</Accordion.Control>
          <Accordion.Panel>
            {subscriptions.length === 0 && (
              <p className={`dim ${css.none}`}>
                Open a resource and follow it; its updates are counted here.
              </p>
            )}
            {subscriptions.map((one) => (
              <button
                type="button"
                key={one.uri}
                className={`plain ${css.subscription}`}
                onClick={() => open(one.uri)}
              >
                <span className="mono cut grow">{one.uri}</span>
                {one.updated !== null && <span className="dim">{clock(one.updated, false)}</span>}
                <Badge color={one.updates ? "green" : "gray"}>{one.updates}</Badge>
              </button>
            ))}
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </div>
  );
}

function Chosen({
  server,
  uri,
  template,
}: {
  server: ServerView;
  uri: string | null;
  template: string | null;
}) {
  const resources = useItems<Resource>(useList(server.server_id, "resources"));
  const templates = useItems<Resource>(useList(server.server_id, "resource_templates"));
  if (uri !== null) {
    const found = resources.find((item) => item.value.uri === uri)?.value;
    return <ResourcePanel key={uri} server={server} uri={uri} resource={found ?? null} />;
  }
  const found = templates.find((item) => item.value.uriTemplate === template)?.value;
  if (found) return <TemplatePanel key={template} server={server} template={found} />;
  return (
    <Empty icon="resources" title="Choose a resource">
      Its content is read and shown here. Templates ask for their variables first.
    </Empty>
  );
}

export function Resources() {
  const { server: serverId = "", item } = useParams();
  const [query] = useSearchParams();
  const template = query.get("template");
  const server = useInspector((state) => state.servers.get(serverId));
  const held = useList(serverId, "resources");
  if (!server || (server.state !== "CONNECTED" && !held.list))
    return <NotConnected server={server} icon="resources" />;
  if (server.state === "CONNECTED" && !offers(server.capabilities, "resources")) {
    return (
      <Empty icon="resources" title="This server offers no resources">
        It did not declare the resources capability.
      </Empty>
    );
  }
  return (
    <div className="pane">
      <h1 className="sr">Resources of {serverId}</h1>
      <LostNote server={server} />
      <Split
        name="resources.list"
        label="Width of the list"
        initial={360}
        least={220}
        most={700}
        narrow={item || template ? "second" : "first"}
        first={<Lists server={server} chosen={item ?? null} template={template} />}
        second={<Chosen server={server} uri={item ?? null} template={template} />}
      />
    </div>
  );
}
