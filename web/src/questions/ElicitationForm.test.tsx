import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
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
