import { act, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import { NO_FILTER } from "./trafficFilter";
import { useTrafficRows } from "./useTrafficRows";

const at =
  (path: string) =>
  ({ children }: { children: ReactNode }) => (
    <MemoryRouter initialEntries={[path]}>{children}</MemoryRouter>
  );

it("keeps a filter of an earlier session away from the present one", () => {
  const earlier = renderHook(useTrafficRows, { wrapper: at("/traffic?run=before") });
  act(() => earlier.result.current.setFilter({ ...NO_FILTER, status: "malformed" }));
  expect(earlier.result.current.filter.status).toBe("malformed");
  const present = renderHook(useTrafficRows, { wrapper: at("/traffic") });
  expect(present.result.current.filter.status).toBe("any");
});
