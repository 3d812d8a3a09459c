// The link by which a person opens the site to sign in at. Nothing is opened by itself.
import { Button } from "@mantine/core";
import { Link } from "react-router";
import type { ServerView } from "../api/types";
import { Icon } from "../components/Icon";
import { pathTo } from "../state/navigation";
import { visible } from "../values/hiddenCharacters";

interface Props {
  server: ServerView;
  size?: "compact-xs" | "sm";
}

export function SignInLink({ server, size = "compact-xs" }: Props) {
  const { open_url, site } = server.auth ?? {};
  // The backend is the judge of what may be opened; this is the second lock.
  if (!open_url || !site || !/^https?:\/\//.test(open_url)) return null;
  return (
    <Button
      component="a"
      href={open_url}
      target="_blank"
      rel="noopener noreferrer"
      size={size}
      rightSection={<Icon name="external" size={13} />}
    >
      Sign in at {visible(site)}
    </Button>
  );
}

/** Leads to the checklist where a sign-in waits for something else, or has failed. */
export function SignInStepsLink({ server }: { server: ServerView }) {
  if (!server.auth) return null;
  return (
    <Button
      size="compact-xs"
      variant="default"
      component={Link}
      to={pathTo(server.server_id, "auth")}
    >
      {server.auth.issuers.length > 0 ? "Choose where to sign in" : "Show the steps"}
    </Button>
  );
}
