import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { ErrorBoundary } from "./ErrorBoundary";

const Bad = ({ value }: { value: unknown }) => <p>{(value as { a: { b: string } }).a.b}</p>;
const drawn = (value: unknown) => (
  <MantineProvider env="test">
    <ErrorBoundary what="this result" raw={value}>
      <Bad value={value} />
    </ErrorBoundary>
  </MantineProvider>
);

it("shows the raw value in place of what could not be drawn, and tries another one", () => {
  const silent = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const { rerender } = render(drawn({ odd: 1 }));
  expect(screen.getByText("Could not display this result", { exact: false })).toBeTruthy();
  expect(screen.getByText('"odd": 1', { exact: false })).toBeTruthy();
  rerender(drawn({ a: { b: "good" } }));
  expect(screen.getByText("good")).toBeTruthy();
  silent.mockRestore();
});
