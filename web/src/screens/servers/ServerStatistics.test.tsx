// The numbers and plots of a server's traffic.
import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import type { StatisticsView } from "../../api/types";
import { aServer } from "../../testing/views";
import { heightsOf, StatisticsLine, StatisticsSection } from "./ServerStatistics";

const NONE = aServer().statistics;
const request = (elapsed_s: number, is_failed = false) => ({
  method: "tools/call",
  elapsed_s,
  is_failed,
});
const SOME: StatisticsView = {
  ...NONE,
  requests: 24,
  errors: 1,
  median_s: 0.004,
  p95_s: 0.157,
  sent_bytes: 1000,
  received_bytes: 37000,
  last_error: { at: 0, method: "tools/call", message: "it broke", request_seq: 9 },
  recent: [request(0.004), request(0.157, true)],
};

const show = (statistics: StatisticsView) => {
  const server = aServer({ server_id: "demo", statistics });
  return render(
    <MantineProvider>
      <MemoryRouter>
        <div data-testid="line">
          <StatisticsLine server={server} />
        </div>
        <StatisticsSection server={server} />
      </MemoryRouter>
    </MantineProvider>,
  );
};

it("says nothing before the first request", () => {
  show(NONE);
  expect(screen.getByTestId("line").textContent).toBe("");
  expect(screen.queryByRole("region")).toBeNull();
});

it("sums up in one line, and says more in Info, with the last error", () => {
  show(SOME);
  const line = screen.getByTestId("line").textContent;
  expect(line).toBe("24 requests · 1 error · 38 kB · median 4 ms · p95 157 ms");
  const [small] = screen.getAllByRole("img");
  expect(small?.getAttribute("aria-label")).toBe(
    "Durations of the last 2 requests, median 4 ms, longest 157 ms, 1 failed",
  );
  expect(small?.querySelectorAll("rect")).toHaveLength(2);
  const link = screen.getByRole("link", { name: "Show in Traffic" });
  expect(link.getAttribute("href")).toBe("/s/demo/traffic/9");
  screen.getByText("it broke");
});

it("draws every request, and one slow request does not flatten the others", () => {
  const [quick = 0, usual = 0, slow] = heightsOf([request(0), request(0.01), request(10)]);
  expect(quick).toBeGreaterThan(0.1);
  expect(usual).toBeGreaterThan(0.2);
  expect(slow).toBe(1);
});
