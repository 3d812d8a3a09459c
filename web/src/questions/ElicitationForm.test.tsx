import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { beforeAll, expect, it, vi } from "vitest";
import type { QuestionView } from "../api/types";
import { formModule } from "../forms/ArgumentsEditor";
import { QuestionPanel } from "./QuestionPanel";

const asking = (requestedSchema: unknown): QuestionView =>
  ({
    question_id: "demo/elicitation-1",
    server_id: "demo",
    method: "elicitation/create",
    mode: "form",
    opened: 1,
    deadline: null,
    round: null,
    link: null,
    params: { message: "Where?", requestedSchema },
  }) as unknown as QuestionView;

// The form is a large module; a busy machine needs its time to load it.
beforeAll(async () => void (await formModule.load()), 60_000);

it.each([
  { type: "object", properties: { a: { type: "string" } }, required: 4 },
  { type: "object", properties: { a: { type: "string", oneOf: "no" } } },
])("a question with the odd form %j can be answered", (schema) => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  render(
    <MantineProvider>
      <QuestionPanel question={asking(schema)} />
    </MantineProvider>,
  );
  expect(screen.getByText("Your answer")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Submit" })).toBeTruthy();
});

it.each([
  ["textbox", { type: "string" }],
  ["combobox", { type: "string", enum: ["a", "b"] }],
])("an answer that does not fit leads to the first bad field, a %s", async (role, bad) => {
  const properties = { good: { type: "string" }, bad, worse: { type: "integer" } };
  render(
    <MantineProvider env="test">
      <QuestionPanel
        question={asking({ type: "object", properties, required: ["bad", "worse"] })}
      />
    </MantineProvider>,
  );
  fireEvent.click(screen.getByRole("button", { name: "Submit" }));
  const field = screen.getByRole(role, { name: /^bad/ });
  await waitFor(() => expect(document.activeElement).toBe(field));
});
