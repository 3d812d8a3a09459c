import { MantineProvider } from "@mantine/core";
import { renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter, Route, Routes } from "react-router";
import { expect, it } from "vitest";
import { emptyInspector, useInspector } from "../state/store";
import { aServer } from "../testing/views";
import { useEntries } from "./paletteEntries";

const at = (path: string) =>
  function Around({ children }: { children: ReactNode }) {
    return (
      <MantineProvider env="test">
        <MemoryRouter initialEntries={[path]}>
          <Routes>
            <Route path="/s/:server/tools" element={children} />
          </Routes>
        </MemoryRouter>
      </MantineProvider>
    );
  };

it("names the server at hand before the others", () => {
  const servers = new Map(
    ["one", "two", "three"].map((server_id) => [server_id, aServer({ server_id })]),
  );
  useInspector.setState({ ...emptyInspector(), servers });
  const page = { isMonitorOpen: true, onMonitor: () => {}, onHelp: () => {} };
  const { result } = renderHook(() => useEntries(page), { wrapper: at("/s/two/tools") });
  const keys = result.current.map((one) => one.key).filter((key) => key.startsWith("server "));
  expect(keys).toEqual(["server two", "server one", "server three"]);
});
