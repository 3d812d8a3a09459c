import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";
import { NumberInput } from "./NumberInput";

let given: number | "" = "";

function Field({ min, max }: { min?: number; max?: number }) {
  const [value, setValue] = useState<number | "">("");
  given = value;
  return (
    <MantineProvider>
      <NumberInput label="Number" min={min} max={max} value={value} onChange={setValue} />
    </MantineProvider>
  );
}

test("a number stays as typed, and letters are not taken", async () => {
  render(<Field min={0} />);
  const field = screen.getByLabelText("Number");
  await userEvent.type(field, "-1a.50");
  expect(field).toHaveProperty("value", "1.50");
  expect(given).toBe(1.5);
  await userEvent.clear(field);
  expect(given).toBe("");
  expect(field).toHaveProperty("value", "");
});

test("the arrow keys step within the limits", async () => {
  render(<Field min={-1} max={2} />);
  const field = screen.getByLabelText("Number");
  await userEvent.type(field, "1{ArrowUp}{ArrowUp}");
  expect(given).toBe(2);
  await userEvent.type(field, "{ArrowDown}{ArrowDown}{ArrowDown}{ArrowDown}");
  expect(given).toBe(-1);
  expect(field).toHaveProperty("value", "-1");
});
