// A form on a page of its own, for tests.
import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { useState } from "react";
import { useDraft } from "../state/remembered";
import { type Arguments, ArgumentsEditor, formModule, NO_ARGUMENTS } from "./ArgumentsEditor";
import { validate } from "./validate";

export interface Shown {
  text(): string;
  /** The arguments as they would be sent. */
  sent(): unknown;
  unmount(): void;
}

interface Options {
  isTried?: boolean;
  start?: Arguments;
}

export async function show(schema: unknown, options: Options = {}): Promise<Shown> {
  await formModule.load();
  let latest: Arguments = NO_ARGUMENTS;
  function Page() {
    const [value, setValue] = useDraft("test", options.start ?? NO_ARGUMENTS);
    const [held] = useState(schema);
    latest = value;
    const findings = options.isTried ? validate(held, JSON.parse(value.text ?? "{}")) : [];
    return (
      <MantineProvider env="test">
        <ArgumentsEditor
          name="test"
          schema={held}
          value={value}
          findings={findings}
          onChange={setValue}
        />
      </MantineProvider>
    );
  }
  const { unmount } = render(<Page />);
  return {
    text: () => latest.text ?? "",
    sent: () => JSON.parse(latest.text ?? "null") as unknown,
    unmount,
  };
}

export const one = (schema: unknown, isRequired = false): object => ({
  type: "object",
  properties: { it: schema },
  ...(isRequired ? { required: ["it"] } : {}),
});
