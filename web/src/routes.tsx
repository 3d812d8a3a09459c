// Every address of the page. Large screens are loaded when they are first shown, or when the page
// is idle.
import type { ComponentType } from "react";
import { createBrowserRouter, Navigate, type RouteObject } from "react-router";
import { type LazyModule, lazyModule } from "./components/lazyModule";
import { Servers } from "./screens/servers/Servers";
import { AppShell } from "./shell/AppShell";
import { PageError, RouteError } from "./shell/ErrorScreens";
import { LazyScreen } from "./shell/LazyScreen";
import { NearestScreen } from "./shell/NearestScreen";
import { StartRedirect } from "./shell/StartRedirect";

const info = lazyModule(() => import("./screens/servers/ServerInfo"));
const raw = lazyModule(() => import("./raw/RawScreen"));
const settings = lazyModule(() => import("./screens/settings/Settings"));
const questions = lazyModule(() => import("./screens/questions/Questions"));
const question = lazyModule(() => import("./screens/questions/QuestionScreen"));
const tools = lazyModule(() => import("./screens/tools/Tools"));
const resources = lazyModule(() => import("./screens/resources/Resources"));
const prompts = lazyModule(() => import("./screens/prompts/Prompts"));
const tasks = lazyModule(() => import("./screens/tasks/Tasks"));
const logs = lazyModule(() => import("./screens/logs/Logs"));
const skills = lazyModule(() => import("./screens/skills/Skills"));
const auth = lazyModule(() => import("./screens/auth/Auth"));
const collections = lazyModule(() => import("./screens/collections/Collections"));
const gateway = lazyModule(() => import("./screens/gateway/Gateway"));
const apps = lazyModule(() => import("./apps/Apps"));
const traffic = lazyModule(() => import("./screens/traffic/Traffic"));

const screen = <T,>(
  path: string,
  loader: LazyModule<T>,
  pick: (module: T) => ComponentType,
): RouteObject => ({
  path,
  // The router never calls this twice, so it must not fail; the screen shows a load error itself.
  lazy: async () => {
    await loader.load().catch(() => {});
    return { element: <LazyScreen loader={loader} pick={pick} /> };
  },
});

const OF_SERVER: RouteObject[] = [
  { index: true, element: <Navigate to="tools" replace /> },
  screen("tools/:item?", tools, (module) => module.Tools),
  screen("apps/:item?", apps, (module) => module.Apps),
  screen("resources/:item?", resources, (module) => module.Resources),
  screen("prompts/:item?", prompts, (module) => module.Prompts),
  screen("tasks/:item?", tasks, (module) => module.Tasks),
  screen("logs", logs, (module) => module.Logs),
  screen("traffic/:item?", traffic, (module) => module.Traffic),
  screen("raw", raw, (module) => module.RawScreen),
  screen("auth", auth, (module) => module.Auth),
  screen("skills/:item?", skills, (module) => module.Skills),
];

const ALL: RouteObject[] = [
  { index: true, element: <StartRedirect /> },
  { path: "servers", element: <Servers /> },
  screen("servers/:server/:part?", info, (module) => module.ServerInfo),
  screen("settings", settings, (module) => module.Settings),
  screen("collections/:item?", collections, (module) => module.Collections),
  screen("gateway", gateway, (module) => module.Gateway),
  screen("questions", questions, (module) => module.Questions),
  screen("questions/:question", question, (module) => module.QuestionScreen),
  screen("traffic/:item?", traffic, (module) => module.Traffic),
  screen("logs", logs, (module) => module.Logs),
  { path: "s/:server", children: OF_SERVER },
  { path: "*", element: <NearestScreen /> },
];

export const router = createBrowserRouter([
  {
    path: "/",
    element: <AppShell />,
    errorElement: <PageError />,
    hydrateFallbackElement: <div />,
    // A screen that fails leaves the app shell in place.
    children: [{ errorElement: <RouteError />, children: ALL }],
  },
]);
