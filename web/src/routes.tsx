// Every address of the page. Screens that need much code are loaded when they are first shown, or
// when nothing else is to be done.
import type { ComponentType } from "react";
import { createBrowserRouter, Navigate, type RouteObject } from "react-router";
import { Frame } from "./frame/Frame";
import { Problem, ScreenProblem } from "./frame/Problem";
import { Start } from "./frame/Start";
import { lazyModules } from "./parts/useModule";
import { Later } from "./screens/Later";
import { Servers } from "./screens/servers/Servers";

type Fetch = () => Promise<ComponentType>;

const SCREENS = {
  info: async () => (await import("./screens/servers/ServerInfo")).ServerInfo,
  settings: async () => (await import("./screens/settings/Settings")).Settings,
  questions: async () => (await import("./questions/Questions")).Questions,
  question: async () => (await import("./questions/QuestionScreen")).QuestionScreen,
  tools: async () => (await import("./screens/tools/Tools")).Tools,
  resources: async () => (await import("./screens/resources/Resources")).Resources,
  prompts: async () => (await import("./screens/prompts/Prompts")).Prompts,
  tasks: async () => (await import("./screens/tasks/Tasks")).Tasks,
  logs: async () => (await import("./screens/logs/Logs")).Logs,
  traffic: async () => (await import("./screens/traffic/Traffic")).Traffic,
} satisfies Record<string, Fetch>;

const screen = (path: string, fetchIt: Fetch): RouteObject => ({
  path,
  lazy: async () => ({ Component: await fetchIt() }),
});

const OF_SERVER: RouteObject[] = [
  { index: true, element: <Navigate to="tools" replace /> },
  screen("tools/:item?", SCREENS.tools),
  screen("resources/:item?", SCREENS.resources),
  screen("prompts/:item?", SCREENS.prompts),
  screen("tasks/:item?", SCREENS.tasks),
  screen("logs", SCREENS.logs),
  screen("traffic/:item?", SCREENS.traffic),
  { path: "auth", element: <Later /> },
];

const ALL: RouteObject[] = [
  { index: true, element: <Start /> },
  { path: "servers", element: <Servers /> },
  screen("servers/:server/:part?", SCREENS.info),
  screen("settings", SCREENS.settings),
  screen("questions", SCREENS.questions),
  screen("questions/:question", SCREENS.question),
  screen("traffic/:item?", SCREENS.traffic),
  screen("logs", SCREENS.logs),
  { path: "s/:server", children: OF_SERVER },
  { path: "*", element: <Navigate to="/servers" replace /> },
];

export const router = createBrowserRouter([
  {
    path: "/",
    element: <Frame />,
    errorElement: <Problem />,
    hydrateFallbackElement: <div />,
    // A screen that fails leaves the frame around it standing.
    children: [{ errorElement: <ScreenProblem />, children: ALL }],
  },
]);

const idle = (): Promise<unknown> =>
  new Promise((resolve) =>
    "requestIdleCallback" in window ? requestIdleCallback(resolve) : setTimeout(resolve, 200),
  );

/** Fetch the code of all screens, so that each opens even when mcplens no longer answers. */
export async function loadAhead(): Promise<void> {
  const screens = Object.values(SCREENS);
  for (const fetchIt of screens) {
    await idle();
    // A screen that cannot be had now is asked for again when it is opened.
    await fetchIt().catch(() => {});
  }
  for (const module of lazyModules()) {
    await idle();
    if (!module.loaded) await module.load().catch(() => {});
  }
}
