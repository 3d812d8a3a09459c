// Layout of the tools, resources and prompts screens: a list, and the selected item beside it.
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import type { CallView, ServerView } from "../api/types";
import { EmptyState } from "../components/EmptyState";
import { LIST_WIDTH, SplitPane } from "../components/SplitPane";
import { DisconnectedBanner } from "../servers/DisconnectedBanner";
import { NotConnected } from "../servers/NotConnected";
import { offers, useList } from "../state/lists";
import { pathToServer, usePageLocation } from "../state/navigation";
import { useInspector } from "../state/store";
import { useHasCalls } from "./useItemCalls";

interface Props {
  kind: "tools" | "resources" | "prompts";
  calls: CallView["kind"];
  isAnyChosen: boolean;
  list(server: ServerView): ReactNode;
  chosen(server: ServerView): ReactNode;
}

export function CatalogScreen({ kind, calls, isAnyChosen, list, chosen }: Props) {
  const { server_id } = usePageLocation();
  const serverId = server_id ?? "";
  const server = useInspector((state) => state.servers.get(serverId));
  const { isThere } = useList(serverId, kind);
  const hasCalls = useHasCalls(serverId, calls);
  const isConnected = server?.state === "CONNECTED";
  // The list, the calls and typed input stay when a server exits.
  if (!server || (!isConnected && !isThere && !hasCalls))
    return <NotConnected server={server} icon={kind} />;
  if (isConnected && !offers(server.capabilities, kind)) {
    return (
      <EmptyState
        icon={kind}
        title={`This server offers no ${kind}`}
        action={
          <Button component={Link} to={pathToServer(serverId)} variant="default">
            What it offers
          </Button>
        }
      >
        It did not declare the {kind} capability.
      </EmptyState>
    );
  }
  return (
    <div className="pane">
      <h1 className="sr">
        {kind[0]?.toUpperCase() + kind.slice(1)} of {serverId}
      </h1>
      <DisconnectedBanner server={server} />
      <SplitPane
        name={`${kind}.list`}
        label="Width of the list"
        {...LIST_WIDTH}
        narrow={isAnyChosen ? "second" : "first"}
        first={list(server)}
        second={chosen(server)}
      />
    </div>
  );
}
