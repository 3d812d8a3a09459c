// Every address of the page. Screens that need much code are loaded when they are first shown.
import { createBrowserRouter, Navigate } from "react-router";
import { Frame } from "./frame/Frame";
import { Problem } from "./frame/Problem";
import { Start } from "./frame/Start";
import { Later } from "./screens/Later";
import { Servers } from "./screens/servers/Servers";

export const router = createBrowserRouter([
  {
    path: "/",
    element: <Frame />,
    errorElement: <Problem />,
    hydrateFallbackElement: <div />,
    children: [
      { index: true, element: <Start /> },
      { path: "servers", element: <Servers /> },
      {
        path: "servers/:server/:part?",
        lazy: async () => ({
          Component: (await import("./screens/servers/ServerInfo")).ServerInfo,
        }),
      },
      {
        path: "settings",
        lazy: async () => ({ Component: (await import("./screens/settings/Settings")).Settings }),
      },
      {
        path: "questions",
        lazy: async () => ({ Component: (await import("./questions/Questions")).Questions }),
      },
      {
        path: "questions/:question",
        lazy: async () => ({
          Component: (await import("./questions/QuestionScreen")).QuestionScreen,
        }),
      },
      {
        path: "traffic/:item?",
        lazy: async () => ({ Component: (await import("./screens/traffic/Traffic")).Traffic }),
      },
      {
        path: "logs",
        lazy: async () => ({ Component: (await import("./screens/logs/Logs")).Logs }),
      },
      {
        path: "s/:server",
        children: [
          { index: true, element: <Navigate to="tools" replace /> },
          {
            path: "tools/:item?",
            lazy: async () => ({ Component: (await import("./screens/tools/Tools")).Tools }),
          },
          {
            path: "resources/:item?",
            lazy: async () => ({
              Component: (await import("./screens/resources/Resources")).Resources,
            }),
          },
          {
            path: "prompts/:item?",
            lazy: async () => ({ Component: (await import("./screens/prompts/Prompts")).Prompts }),
          },
          {
            path: "tasks/:item?",
            lazy: async () => ({ Component: (await import("./screens/tasks/Tasks")).Tasks }),
          },
          {
            path: "logs",
            lazy: async () => ({ Component: (await import("./screens/logs/Logs")).Logs }),
          },
          {
            path: "traffic/:item?",
            lazy: async () => ({ Component: (await import("./screens/traffic/Traffic")).Traffic }),
          },
          { path: "auth", element: <Later /> },
        ],
      },
      { path: "*", element: <Navigate to="/servers" replace /> },
    ],
  },
]);
