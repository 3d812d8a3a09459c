// Says that only the events of one request, call, HTTP exchange or app are shown.
import { useRing, useRingVersion } from "../state/events";
import { type LinkFilter, linkWords } from "../state/linkFilter";
import { NoticeLine } from "./MissingEvents";

export function LinkNotice({ link, onAll }: { link: LinkFilter; onAll(): void }) {
  const ring = useRing();
  useRingVersion(ring); // the request may be loaded later
  return (
    <NoticeLine button="Show all" onClick={onAll}>
      Only what belongs to {linkWords(ring, link)}
    </NoticeLine>
  );
}
