// Where the page begins: nonce, theme, socket, router.
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./design.css";
import { MantineProvider } from "@mantine/core";
import { ModalsProvider } from "@mantine/modals";
import { Notifications } from "@mantine/notifications";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";
import { lendNonce, nonce } from "./nonce";
import { loadAhead, router } from "./routes";
import { socket } from "./state/connection";
import { useInspector } from "./state/store";
import { watchCalls, watchConnections } from "./state/tidings";
import { theme, variables } from "./theme";

lendNonce();
void socket.start();
watchConnections();
const unsubscribe = useInspector.subscribe((state) => {
  if (state.run_id === null) return;
  unsubscribe();
  void loadAhead();
});
watchCalls((path) => void router.navigate(path));

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
        <Notifications position="bottom-right" limit={4} />
        <RouterProvider router={router} />
      </ModalsProvider>
    </MantineProvider>,
  );
}
