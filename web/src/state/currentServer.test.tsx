import { act, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import { aServer } from "../testing/views";
import { rememberServer } from "./lastVisited";
import { useCurrentServer } from "./navigation";
import { emptyInspector, useInspector } from "./store";

const at = (path: string) =>
  function Around({ children }: { children: ReactNode }) {
    return <MemoryRouter initialEntries={[path]}>{children}</MemoryRouter>;
  };

function current(path: string) {
  const servers = new Map(["one", "two"].map((id) => [id, aServer({ server_id: id })]));
  useInspector.setState({ ...emptyInspector(), servers, first_server_id: "one" });
  sessionStorage.clear();
  return renderHook(() => useCurrentServer()?.server_id, { wrapper: at(path) }).result;
}

it("follows at once where a server is connected by hand, without waiting for its next view", () => {
  const server = current("/servers");
  expect(server.current).toBe("one");
  act(() => rememberServer("two"));
  expect(server.current).toBe("two");
});

it("stays that of the address", () => {
  const server = current("/s/one/tools");
  act(() => rememberServer("two"));
  expect(server.current).toBe("one");
});
