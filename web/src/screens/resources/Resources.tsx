// The resources of a server: the lists, and the chosen resource, template or address.
import { useSearchParams } from "react-router";
import type { ServerView } from "../../api/types";
import { Empty } from "../../parts/Empty";
import { LostNote } from "../../parts/LostNote";
import { NotConnected } from "../../parts/NotConnected";
import { Split } from "../../parts/Split";
import type { Resource } from "../../state/items";
import { isComing, itemsIn, offers, useList } from "../../state/lists";
import { usePlace } from "../../state/selection";
import { useInspector } from "../../state/store";
import { LookingFor } from "../tools/LookingFor";
import { useHasCalls } from "../tools/useToolCalls";
import { ResourceLists } from "./ResourceLists";
import { ResourcePanel } from "./ResourcePanel";
import { TemplatePanel } from "./TemplatePanel";
import { UriPanel } from "./UriPanel";

interface Place {
  /** The resource that is read and shown. */
  item: string | null;
  template: string | null;
  /** The address that is filled in, but not read. */
  uri: string | null;
}

function Chosen({ server, place }: { server: ServerView; place: Place }) {
  const resources = itemsIn<Resource>(useList(server.server_id, "resources"));
  const templates = useList(server.server_id, "resource_templates");
  const { server_id } = server;
  const { item, template, uri } = place;
  if (item !== null) {
    const found = resources.find((one) => one.key === item);
    return (
      <ResourcePanel
        key={`${server_id} ${item}`}
        server={server}
        uri={item}
        resource={found?.value ?? null}
        problem={found?.problem ?? null}
      />
    );
  }
  if (uri !== null) return <UriPanel key={`${server_id} ${uri}`} server={server} uri={uri} />;
  if (template) {
    const found = itemsIn<Resource>(templates).find((one) => one.key === template);
    if (!found && isComing(server, templates))
      return <LookingFor name={template} serverId={server_id} screen="resources" />;
    return (
      <TemplatePanel
        key={`${server_id} ${template}`}
        server={server}
        template={found?.value ?? { uriTemplate: template }}
        problem={found?.problem ?? null}
      />
    );
  }
  return (
    <Empty icon="resources" title="Choose a resource">
      Its content is read and shown here. Templates ask for their variables first.
    </Empty>
  );
}

export function Resources() {
  const { server_id, item } = usePlace();
  const serverId = server_id ?? "";
  const [query] = useSearchParams();
  const place = { item, template: query.get("template") || null, uri: query.get("uri") };
  const server = useInspector((state) => state.servers.get(serverId));
  const { isThere } = useList(serverId, "resources");
  const hasRead = useHasCalls(serverId, "resource");
  const isConnected = server?.state === "CONNECTED";
  if (!server || (!isConnected && !isThere && !hasRead))
    return <NotConnected server={server} icon="resources" />;
  if (isConnected && !offers(server.capabilities, "resources")) {
    return (
      <Empty icon="resources" title="This server offers no resources">
        It did not declare the resources capability.
      </Empty>
    );
  }
  const isAnyChosen = Object.values(place).some((one) => one !== null);
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
        narrow={isAnyChosen ? "second" : "first"}
        first={<ResourceLists server={server} chosen={item} template={place.template} />}
        second={<Chosen server={server} place={place} />}
      />
    </div>
  );
}
