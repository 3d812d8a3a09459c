// Where the page begins: nonce, theme, socket, router.
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./fonts.css";
import "./tokens.css";
import "./design.css";
import { MantineProvider } from "@mantine/core";
import { ModalsProvider } from "@mantine/modals";
import { Notifications } from "@mantine/notifications";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";
import { lendNonce, nonce } from "./nonce";
import { preloadModules } from "./preload";
import { router } from "./routes";
import { socket } from "./state/commands";
import { applyDensity } from "./state/density";
import { recordVisits } from "./state/navigation";
import { notifyConnections, notifyFailedCalls } from "./state/notifications";
import { theme, variables } from "./theme";

lendNonce();
applyDensity();
recordVisits(router);
void socket.start();
notifyConnections();
void preloadModules();
notifyFailedCalls((path) => void router.navigate(path));

// Long enough to read an error and follow its link; shorter toasts set their own time.
const TOAST_MS = 8000;

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <ModalsProvider>
        <Notifications position="bottom-right" limit={4} autoClose={TOAST_MS} />
        <RouterProvider router={router} flushSync={(update) => void flushSync(update)} />
      </ModalsProvider>
    </MantineProvider>,
  );
}
