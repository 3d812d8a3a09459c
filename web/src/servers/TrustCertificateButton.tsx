// Button beside a certificate error that leads to the setting for trusted certificates.
import { Button } from "@mantine/core";
import { Link } from "react-router";
import type { ServerView } from "../api/types";

export function TrustCertificateButton({ server }: { server: ServerView }) {
  const { error, server_id, is_editable } = server;
  // A server without TLS fails with the same code.
  if (error?.code !== "TLS_FAILED" || error.details.is_untrusted !== true) return null;
  const verb = is_editable ? "edit" : "copy";
  return (
    <Button
      size="compact-xs"
      variant="default"
      component={Link}
      to={`/servers?${verb}=${encodeURIComponent(server_id)}&trust`}
    >
      {is_editable ? "Trust a certificate" : "Trust a certificate, in a copy"}
    </Button>
  );
}
