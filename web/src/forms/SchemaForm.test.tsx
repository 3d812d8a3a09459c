import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { describe, expect, it } from "vitest";
import { initialValue, SchemaForm } from "./SchemaForm";

function Held({ schema, onValue }: { schema: unknown; onValue(value: unknown): void }) {
  const [value, setValue] = useState<unknown>({});
  return (
    <MantineProvider env="test">
      <SchemaForm
        name="test"
        schema={schema}
        value={value}
        findings={[{ pointer: "/city", message: "This is required." }]}
        onChange={(next) => {
          setValue(next);
          onValue(next);
        }}
      />
    </MantineProvider>
  );
}

describe("SchemaForm", () => {
  it("gives what was typed, and shows findings at their fields", async () => {
    let last: unknown;
    const schema = {
      type: "object",
      required: ["city"],
      properties: { city: { type: "string", title: "City", description: "Where" } },
    };
    render(
      <Held
        schema={schema}
        onValue={(value) => {
          last = value;
        }}
      />,
    );
    expect(screen.getByText("Where")).toBeTruthy();
    expect(screen.getAllByText("This is required.").length).toBeGreaterThan(0);
    await userEvent.type(screen.getByLabelText(/City/), "Rome");
    expect(last).toEqual({ city: "Rome" });
  });
  it("begins with the schema's defaults, and picks no option by itself", () => {
    const choices = [
      { const: "a", title: "A" },
      { const: "b", title: "B" },
    ];
    const schema = {
      type: "object",
      properties: {
        n: { type: "integer", default: 3 },
        pick: { type: "string", oneOf: choices },
        list: { type: "array", minItems: 1, items: { type: "string" } },
      },
    };
    expect(initialValue(schema)).toEqual({ n: 3 });
  });
});
