// The tabs of the top bar, those that apply to the current server; a menu where they do not fit.
import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import type { ServerView } from "../api/types";
import { Icon } from "../components/Icon";
import { type PageLocation, usePageLocation } from "../state/navigation";
import { useInspector } from "../state/store";
import { pluralize } from "../values/format";
import css from "./ScreenTabs.module.css";
import {
  countOf,
  isCounted,
  isTabShown,
  keyOfTab,
  short,
  TABS,
  type Tab,
  tabPath,
  tabScreen,
} from "./tabs";

/** What the label does not say: the exact count and the key; null if there is neither. */
export function hintOf(tab: Tab, count: number | null): string | null {
  const key = keyOfTab(tab);
  const named = count === null ? tab.label : `${tab.label}, ${pluralize(count, "item")}`;
  if (key !== null) return `${named} · key ${key}`;
  return count === null ? null : named;
}

interface TabProps {
  tab: Tab;
  server: ServerView | null;
  place: PageLocation;
}

function TabLink({ tab, server, place }: TabProps) {
  const count = countOf(server, tab.screen);
  const isHere = tab.screen === tabScreen(place);
  const hint = hintOf(tab, count);
  return (
    // After the click it would cover what one came for.
    <Tooltip label={hint} disabled={hint === null || isHere}>
      <Link
        to={tabPath(tab, server, place)}
        className={isHere ? `${css.tab} active` : css.tab}
        data-global={tab.isGlobal}
        aria-current={isHere ? "page" : undefined}
      >
        <span className={css.label} data-label={tab.label}>
          {tab.label}
        </span>
        {isCounted(tab) && <span className={css.count}>{count === null ? "" : short(count)}</span>}
      </Link>
    </Tooltip>
  );
}

// Of the row of tabs in a narrow window.
const PADDING_PX = 8;

/** Whether the children of an element need more room than there is, the menu's own counted in. */
function useIsCut(element: React.RefObject<HTMLElement | null>, content: string): boolean {
  const [isCut, setCut] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured again when the tabs change
  useEffect(() => {
    const box = element.current;
    const place = box?.parentElement;
    if (!box || !place) return;
    const children = [...box.children] as HTMLElement[];
    const measure = (): void => {
      const needed_px = children.reduce((sum, child) => sum + child.offsetWidth, 0);
      setCut(needed_px > place.clientWidth - PADDING_PX);
    };
    measure();
    const observer = new ResizeObserver(measure);
    // Fonts and counts come later.
    for (const one of [place, ...children]) observer.observe(one);
    return () => observer.disconnect();
  }, [element, content]);
  return isCut;
}

/** All tabs as a menu: on a narrow screen some of them are out of sight. */
function AllScreens({ tabs, server, place }: Omit<TabProps, "tab"> & { tabs: Tab[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Menu position="bottom-end" width={220} opened={isOpen} onChange={setOpen}>
      <Tooltip label="All screens" disabled={isOpen}>
        <Menu.Target>
          <ActionIcon className={css.all} aria-label="All screens">
            <Icon name="down" />
          </ActionIcon>
        </Menu.Target>
      </Tooltip>
      <Menu.Dropdown>
        {tabs.map((tab) => (
          <Menu.Item
            key={tab.screen}
            component={Link}
            to={tabPath(tab, server, place)}
            aria-current={tab.screen === tabScreen(place) ? "page" : undefined}
            className={css.item ?? ""}
            leftSection={<Icon name={tab.icon} size={14} />}
            rightSection={<span className="dim">{countOf(server, tab.screen)}</span>}
          >
            {tab.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

export function ScreenTabs({ server }: { server: ServerView | null }) {
  const place = usePageLocation();
  const hasTaskViews = useInspector((state) =>
    [...state.tasks.values()].some((task) => task.server_id === server?.server_id),
  );
  const bar = useRef<HTMLElement>(null);
  const tabs = TABS.filter((tab) => isTabShown(tab, server, place, hasTaskViews));
  const labels = tabs.map((tab) => tab.label).join();
  const isCut = useIsCut(bar, labels);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen tab follows the address, and tabs that come in before it
  useEffect(() => {
    bar.current
      ?.querySelector(".active")
      ?.scrollIntoView?.({ inline: "nearest", block: "nearest" });
  }, [place.screen, isCut, labels]);
  return (
    <div className={css.bar} data-cut={isCut || undefined}>
      <nav className={css.tabs} aria-label="Screens" ref={bar}>
        {tabs.map((tab) => (
          <TabLink key={tab.screen} tab={tab} server={server} place={place} />
        ))}
      </nav>
      {isCut && <AllScreens tabs={tabs} server={server} place={place} />}
    </div>
  );
}
