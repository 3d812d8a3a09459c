import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import * as session from "../api/session";
import { lazyModule, retryLoad, useModule } from "./lazyModule";
import { ModuleLoading } from "./ModuleLoading";

test("code that does not come is asked for again", async () => {
  let asked = 0;
  const loader = lazyModule(async () => {
    asked += 1;
    if (asked === 1) throw new TypeError("no network");
    return { word: "here" };
  });
  function Shown() {
    const module = useModule(loader);
    return module ? <p>{module.word}</p> : <ModuleLoading loader={loader} what="it" />;
  }
  render(
    <MantineProvider>
      <Shown />
    </MantineProvider>,
  );
  await screen.findByText(/Loading it failed/);
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await screen.findByText("here");
  expect(asked).toBe(2);
});

test("code that never comes in this page comes with another one, if mcplens is there", async () => {
  const reload = vi.spyOn(location, "reload").mockImplementation(() => {});
  const loader = lazyModule(() => Promise.reject(new TypeError("no network")));
  const checked = vi.spyOn(session, "checkSession").mockResolvedValueOnce("unknown");
  await retryLoad(loader);
  expect(reload).not.toHaveBeenCalled();
  checked.mockResolvedValueOnce("yes");
  await retryLoad(loader);
  expect(reload).toHaveBeenCalledOnce();
});
