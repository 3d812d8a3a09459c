// The page that shows every token and component, for whoever designs and for a test in a browser.
// It is not part of the wheel: `make dev` serves it as /look.html.
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "../fonts.css";
import "../tokens.css";
import "../design.css";
import { MantineProvider } from "@mantine/core";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { lendNonce, nonce } from "../nonce";
import { applyDensity } from "../state/density";
import { theme, variables } from "../theme";
import { Look } from "./Look";

lendNonce();
applyDensity();
const router = createMemoryRouter([{ path: "*", element: <Look /> }]);
const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <RouterProvider router={router} />
    </MantineProvider>,
  );
