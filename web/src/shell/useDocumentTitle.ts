// Title of the browser tab: item, screen, server, and number of waiting questions.
import { useEffect } from "react";
import { type PageLocation, serverName, usePageLocation } from "../state/navigation";
import { useInspector } from "../state/store";
import { TABS } from "./tabs";

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Items that have names; the others have numbers. */
const NAMED = ["tools", "resources", "prompts", "collections"];

function screenName({ screen, server_id, item }: PageLocation): string {
  if (screen === "servers" && server_id !== null) return item ? capital(item) : "Info";
  if (screen === "raw") return "Raw message";
  return TABS.find((tab) => tab.screen === screen)?.label ?? capital(screen);
}

export function documentTitle(place: PageLocation, server: string | null, waiting: number): string {
  const item = NAMED.includes(place.screen) ? place.item : null;
  const parts = [item, screenName(place), server, "mcplens"].filter(Boolean);
  return (waiting ? `(${waiting}) ` : "") + parts.join(" · ");
}

export function useDocumentTitle(): void {
  const place = usePageLocation();
  const server = useInspector((state) => state.servers.get(place.server_id ?? ""));
  const waiting = useInspector(
    (state) => [...state.questions.values()].filter((one) => !one.is_done).length,
  );
  const title = documentTitle(place, server ? serverName(server) : place.server_id, waiting);
  useEffect(() => {
    document.title = title;
  }, [title]);
}
