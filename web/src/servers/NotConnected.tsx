// Empty state of a screen whose server is not connected or does not exist.
import { Button } from "@mantine/core";
import { Link } from "react-router";
import type { ServerView } from "../api/types";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import type { IconName } from "../components/Icon";
import { pathToServer, serverName } from "../state/navigation";
import { useInspector } from "../state/store";
import { failureTitle, stateLabel } from "../values/serverState";
import { ConnectOutput, ConnectProgress, isConnecting } from "./ConnectProgress";
import { toggleConnection } from "./connectionActions";
import { DiagnosisButton } from "./DiagnosisButton";
import { TrustCertificateButton } from "./TrustCertificateButton";

export function NotConnected({ server, icon }: { server: ServerView | undefined; icon: IconName }) {
  const isReady = useInspector((state) => state.run_id !== null);
  if (!isReady) return <EmptyState icon={icon} title="Loading…" />;
  if (!server) {
    return (
      <EmptyState
        icon="servers"
        title="There is no such server"
        action={
          <Button component={Link} to="/servers">
            Choose a server
          </Button>
        }
      >
        It may have been removed, or mcplens was started with another configuration.
      </EmptyState>
    );
  }
  const isWaiting = isConnecting(server);
  const error = server.error ?? server.problem;
  return (
    <EmptyState
      icon={icon}
      title={`${serverName(server)}: ${stateLabel(server).toLowerCase()}`}
      action={
        <div className="row">
          {!isWaiting && <Button onClick={() => toggleConnection(server)}>Connect</Button>}
          <Button component={Link} to={pathToServer(server.server_id)} variant="default">
            Details
          </Button>
        </div>
      }
    >
      {error || isWaiting ? (
        <div className="stack" style={{ textAlign: "left" }}>
          {error && (
            <ErrorNote
              error={error}
              title={failureTitle(server)}
              action={
                <>
                  {!isWaiting && <DiagnosisButton server={server} />}
                  <TrustCertificateButton server={server} />
                </>
              }
            />
          )}
          {isWaiting && <ConnectProgress server={server} />}
          <ConnectOutput server={server} />
        </div>
      ) : (
        "Connect it to see what it offers."
      )}
    </EmptyState>
  );
}
