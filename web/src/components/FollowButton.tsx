// For rows that grow at their end: back to the newest one.
import { Button } from "@mantine/core";
import rows from "./EventRows.module.css";
import { Icon } from "./Icon";
import type { RowWindow } from "./useRowWindow";

export function FollowButton({ window }: { window: RowWindow }) {
  if (window.isFollowing || window.fits) return null;
  return (
    <Button
      className={rows.follow}
      size="compact-xs"
      variant="default"
      leftSection={<Icon name="down" size={12} />}
      onClick={() => window.follow(true)}
    >
      Follow the newest
    </Button>
  );
}
