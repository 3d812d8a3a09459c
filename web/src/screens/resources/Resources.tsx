// The resources of a server: the lists, and the chosen resource, template or address.
import { useSearchParams } from "react-router";
import type { ServerView } from "../../api/types";
import { CatalogScreen } from "../../catalog/CatalogScreen";
import { ItemLoading } from "../../catalog/ItemLoading";
import { findMissing, isFullyLoaded } from "../../catalog/NotListed";
import { EmptyState } from "../../components/EmptyState";
import { FORM_WIDTH, SplitPane } from "../../components/SplitPane";
import type { Resource } from "../../state/items";
import { isStillLoading, itemsIn, type List, useList } from "../../state/lists";
import { usePageLocation } from "../../state/navigation";
import { ResourceLists } from "./ResourceLists";
import { ResourcePanel } from "./ResourcePanel";
import { TemplatePanel } from "./TemplatePanel";
import { UriPanel } from "./UriPanel";
import { matches } from "./uriTemplate";

interface ResourceSelection {
  /** The resource that is read and shown. */
  item: string | null;
  template: string | null;
  /** A URI that is filled in but not read. */
  uri: string | null;
}

/** A resource that is in no list; URIs that match a template are not missing. */
function missingResource(serverId: string, uri: string, resources: List, templates: List) {
  const isListed = itemsIn<Resource>(resources).some((one) => one.key === uri);
  const missing = findMissing(resources, `${serverId} resource ${uri}`, isListed);
  // Many servers have no templates and respond with an error.
  const isKnown = isFullyLoaded(templates) || templates.error !== null;
  const isMade = itemsIn<Resource>(templates).some(
    ({ value }) => value.uriTemplate && matches(value.uriTemplate, uri),
  );
  return isKnown && !isMade ? missing : null;
}

type TemplateSelection = Pick<ResourceSelection, "item"> & { template: string };

/** A resource, read and shown. */
function ReadResource({
  server,
  item,
  isBeside,
}: {
  server: ServerView;
  item: string;
  isBeside: boolean;
}) {
  const { server_id } = server;
  const resources = useList(server_id, "resources");
  const templates = useList(server_id, "resource_templates");
  const found = itemsIn<Resource>(resources).find((one) => one.key === item);
  return (
    <ResourcePanel
      key={`${server_id} ${item}`}
      server={server}
      // A duplicate URI has a key of its own.
      uri={found?.value.uri ?? item}
      itemKey={item}
      resource={found?.value ?? null}
      listed={found?.listed}
      missing={isBeside ? null : missingResource(server_id, item, resources, templates)}
      problem={found?.problem ?? null}
      isBeside={isBeside}
    />
  );
}

/** The form of a template, and beside it the last result. */
function TemplateView({ server, template, item }: { server: ServerView } & TemplateSelection) {
  const { server_id } = server;
  const templates = useList(server_id, "resource_templates");
  const found = itemsIn<Resource>(templates).find((one) => one.key === template);
  if (!found && isStillLoading(server, templates))
    return <ItemLoading name={template} serverId={server_id} screen="resources" />;
  return (
    <SplitPane
      name="resources.template"
      label="Width of the form"
      {...FORM_WIDTH}
      narrow="flowing"
      first={
        <TemplatePanel
          key={`${server_id} ${template}`}
          server={server}
          template={found?.value ?? { uriTemplate: template }}
          itemKey={template}
          listed={found?.listed}
          missing={findMissing(templates, `${server_id} template ${template}`, found !== undefined)}
          problem={found?.problem ?? null}
        />
      }
      second={
        item === null ? (
          <EmptyState icon="resources" title="Not read yet">
            Fill in the variables and press Read it, or Ctrl Enter.
          </EmptyState>
        ) : (
          <ReadResource server={server} item={item} isBeside />
        )
      }
    />
  );
}

function SelectedResource({ server, place }: { server: ServerView; place: ResourceSelection }) {
  const { item, template, uri } = place;
  if (template) return <TemplateView server={server} template={template} item={item} />;
  if (item !== null) return <ReadResource server={server} item={item} isBeside={false} />;
  if (uri !== null)
    return <UriPanel key={`${server.server_id} ${uri}`} server={server} uri={uri} />;
  return (
    <EmptyState icon="resources" title="Choose a resource">
      Its content is read and shown here. Templates ask for their variables first.
    </EmptyState>
  );
}

export function Resources() {
  const { item } = usePageLocation();
  const [query] = useSearchParams();
  const place = { item, template: query.get("template") || null, uri: query.get("uri") };
  return (
    <CatalogScreen
      kind="resources"
      calls="resource"
      isAnyChosen={Object.values(place).some((one) => one !== null)}
      list={(server) => (
        <ResourceLists
          server={server}
          chosen={place.template === null ? item : null}
          template={place.template}
        />
      )}
      chosen={(server) => <SelectedResource server={server} place={place} />}
    />
  );
}
