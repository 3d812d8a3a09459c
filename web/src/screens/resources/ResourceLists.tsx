// Lists of resources, templates and subscriptions, with one search for all.
import { Accordion, Badge, Button } from "@mantine/core";
import { useDeferredValue, useMemo, useRef } from "react";
import { Link } from "react-router";
import type { ServerView, SubscriptionView } from "../../api/types";
import { BrokenDefinitionIcon } from "../../catalog/BrokenDefinitionIcon";
import { itemKey } from "../../catalog/CatalogList";
import { ChangeMark, ChangeMarksProvider, useChangeMarks } from "../../catalog/ChangeMark";
import { ListStatus } from "../../catalog/ListStatus";
import { ListToolbar } from "../../catalog/ListToolbar";
import { useListFilter } from "../../catalog/useListFilter";
import { useSelectItem } from "../../catalog/useSelectItem";
import { ErrorNote } from "../../components/ErrorNote";
import { NoSearchMatches } from "../../components/NoMatches";
import { UntrustedText } from "../../components/UntrustedText";
import { VirtualList } from "../../components/VirtualList";
import { command } from "../../state/commands";
import { useRowHeights } from "../../state/density";
import { type Item, itemTitle, matchingItems, type Resource } from "../../state/items";
import { itemsIn, type List, useList } from "../../state/lists";
import { pathTo } from "../../state/navigation";
import { withWaitingToast } from "../../state/toasts";
import { formatBytes, formatTime } from "../../values/format";
import css from "./Resources.module.css";

const render = (item: Item<Resource>) => (
  <>
    <div className="row">
      <BrokenDefinitionIcon text={item.problem} />
      <span className={`cut grow ${css.name}`}>
        <UntrustedText>{itemTitle(item.value, item.key)}</UntrustedText>
      </span>
      <ChangeMark of={item.key} />
      {item.value.mimeType && (
        <span className="dim cut">
          <UntrustedText>{item.value.mimeType}</UntrustedText>
        </span>
      )}
      {item.value.size !== undefined && <span className="dim">{formatBytes(item.value.size)}</span>}
    </div>
    <span className="cut dim mono">
      <UntrustedText>{item.value.uri ?? item.value.uriTemplate ?? item.key}</UntrustedText>
    </span>
  </>
);

interface SectionProps {
  serverId: string;
  kind: "resources" | "resource_templates";
  label: string;
  list: List;
  shown: Item<Resource>[];
  chosen: string | null;
  most: number;
  onChoose(item: Item<Resource>, isStep: boolean): void;
}

function Section({ serverId, kind, label, list, shown, chosen, most, onChoose }: SectionProps) {
  const marks = useChangeMarks(serverId, kind, list, chosen);
  const { item: rowPx } = useRowHeights();
  return (
    <Accordion.Item value={kind}>
      <Accordion.Control>
        {label} ({shown.length})
      </Accordion.Control>
      <Accordion.Panel>
        <ListStatus
          serverId={serverId}
          kind={kind}
          list={list}
          shown={shown.length}
          hasSwitch={kind === "resources"}
        />
        <div className={css.list} style={{ height: Math.min(shown.length * rowPx, most) }}>
          <ChangeMarksProvider value={marks}>
            <VirtualList
              label={label}
              items={shown}
              keyOf={itemKey}
              chosen={chosen}
              onChoose={onChoose}
              render={render}
            />
          </ChangeMarksProvider>
        </div>
      </Accordion.Panel>
    </Accordion.Item>
  );
}

function SubscriptionRow({ server, one }: { server: ServerView; one: SubscriptionView }) {
  const { server_id } = server;
  const unsubscribe = (): void =>
    void withWaitingToast(
      `the end of the subscription to ${one.uri}`,
      "The subscription could not be ended",
      command("Unsubscribe", { server_id, uri: one.uri }),
    );
  return (
    <>
      <div className={css.subscription}>
        <Link to={pathTo(server_id, "resources", one.uri)} className={`mono cut grow ${css.uri}`}>
          <UntrustedText>{one.uri}</UntrustedText>
        </Link>
        {one.updated !== null && <span className="dim">{formatTime(one.updated, false)}</span>}
        <Badge color={one.updates ? "green" : "gray"} title="Updates so far">
          {one.updates}
        </Badge>
        <Button
          size="compact-xs"
          variant="default"
          disabled={server.state !== "CONNECTED"}
          aria-label={`Unsubscribe from ${one.uri}`}
          onClick={unsubscribe}
        >
          Unsubscribe
        </Button>
      </div>
      {one.error && (
        <ErrorNote error={one.error} title="The subscription is not active on this connection" />
      )}
    </>
  );
}

interface Props {
  server: ServerView;
  chosen: string | null;
  template: string | null;
}

export function ResourceLists({ server, chosen, template }: Props) {
  const { server_id } = server;
  const resources = useList(server_id, "resources");
  const templates = useList(server_id, "resource_templates");
  const listed = itemsIn<Resource>(resources);
  const patterns = itemsIn<Resource>(templates);
  const [text, setText] = useListFilter(
    `resources.${server_id}`,
    chosen ?? template,
    chosen === null ? patterns : listed,
  );
  const wanted = useDeferredValue(text);
  const shown = useMemo(() => matchingItems(listed, wanted), [listed, wanted]);
  const shownTemplates = useMemo(() => matchingItems(patterns, wanted), [patterns, wanted]);
  const words = wanted.toLowerCase().split(/\s+/);
  const followed = server.subscriptions.filter((one) =>
    words.every((word) => one.uri.toLowerCase().includes(word)),
  );
  const base = pathTo(server_id, "resources");
  const choose = useSelectItem(chosen, (item) => pathTo(server_id, "resources", item.key));
  const chooseTemplate = useSelectItem(
    template,
    (item) => `${base}?template=${encodeURIComponent(item.key)}`,
  );
  const place = useRef<HTMLDivElement>(null);
  // A key may be pressed before the last input is rendered.
  const open = (isStep: boolean): void => {
    const [first] = matchingItems(listed, text);
    const [firstTemplate] = matchingItems(patterns, text);
    const label = first || !firstTemplate ? "Resources" : "Templates";
    if (isStep)
      place.current?.querySelector<HTMLElement>(`[role="listbox"][aria-label="${label}"]`)?.focus();
    if (first) choose(first, isStep);
    else if (firstTemplate) chooseTemplate(firstTemplate, isStep);
  };
  const isNone = shown.length + shownTemplates.length + followed.length === 0;
  return (
    <div className="pane" ref={place}>
      <ListToolbar
        serverId={server_id}
        kinds={["resources", "resource_templates"]}
        noun="resources"
        text={text}
        onText={setText}
        onEnter={() => text.trim() && open(false)}
        onDown={() => open(true)}
      />
      {wanted.trim() && isNone && <NoSearchMatches text={wanted} onClear={() => setText("")} />}
      <Accordion
        multiple
        defaultValue={["resources", "resource_templates", "subscriptions"]}
        className={css.accordion}
        classNames={{ item: css.item, content: css.content, control: css.control }}
      >
        <Section
          serverId={server_id}
          kind="resources"
          label="Resources"
          list={resources}
          shown={shown}
          chosen={chosen}
          most={420}
          onChoose={choose}
        />
        <Section
          serverId={server_id}
          kind="resource_templates"
          label="Templates"
          list={templates}
          shown={shownTemplates}
          chosen={template}
          most={260}
          onChoose={chooseTemplate}
        />
        <Accordion.Item value="subscriptions">
          <Accordion.Control>Subscriptions ({followed.length})</Accordion.Control>
          <Accordion.Panel>
            {server.subscriptions.length === 0 && (
              <p className={`dim ${css.none}`}>
                Open a resource and subscribe to it; its updates are counted here.
              </p>
            )}
            {followed.map((one) => (
              <SubscriptionRow key={one.uri} server={server} one={one} />
            ))}
          </Accordion.Panel>
        </Accordion.Item>
        <p className={css.none}>
          <Link to={`${base}?uri=`}>Read a URI</Link>
        </p>
      </Accordion>
    </div>
  );
}
