import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { Loading } from "./Loading";
import { lazyModule, useModule } from "./useModule";

test("code that does not come is asked for again", async () => {
  let asked = 0;
  const loader = lazyModule(async () => {
    asked += 1;
    if (asked === 1) throw new TypeError("no network");
    return { word: "here" };
  });
  function Shown() {
    const module = useModule(loader);
    return module ? <p>{module.word}</p> : <Loading loader={loader} what="it" />;
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
