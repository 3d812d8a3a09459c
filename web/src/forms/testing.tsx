// Renders a form for tests, with helpers to use it.
import { MantineProvider } from "@mantine/core";
import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { useDraft } from "../state/browserStorage";
import { type Arguments, ArgumentsEditor, formModule, NO_ARGUMENTS } from "./ArgumentsEditor";
import { useFindings } from "./useFindings";

export interface RenderedForm {
  text(): string;
  /** The arguments as they would be sent. */
  sent(): unknown;
  /** Set other arguments from outside, like a saved example. */
  put(text: string): void;
  unmount(): void;
}

interface Options {
  isTried?: boolean;
  start?: Arguments;
}

export async function renderForm(schema: unknown, options: Options = {}): Promise<RenderedForm> {
  await formModule.load();
  let latest: Arguments = NO_ARGUMENTS;
  let put: (value: Arguments) => void = () => undefined;
  function Page() {
    const [value, setValue] = useDraft("test", options.start ?? NO_ARGUMENTS);
    const [held] = useState(schema);
    latest = value;
    put = setValue;
    const { findings, unchecked } = useFindings(held, value);
    return (
      <MantineProvider env="test">
        <ArgumentsEditor
          name="test"
          schema={held}
          value={value}
          findings={options.isTried ? findings : []}
          unchecked={unchecked}
          onChange={setValue}
        />
      </MantineProvider>
    );
  }
  const { unmount } = render(<Page />);
  return {
    text: () => latest.text ?? "",
    sent: () => JSON.parse(latest.text ?? "null") as unknown,
    put: (text) => act(() => put({ mode: latest.mode, text })),
    unmount,
  };
}

export const one = (schema: unknown, isRequired = false): object => ({
  type: "object",
  properties: { it: schema },
  ...(isRequired ? { required: ["it"] } : {}),
});

export const field = (name: RegExp | string = /^it\b/): HTMLElement => screen.getByLabelText(name);
export const type = (text: string): Promise<void> => userEvent.type(field(), text);
export const paste = async (element: HTMLElement, text: string): Promise<void> => {
  await userEvent.clear(element);
  await userEvent.click(element);
  await userEvent.paste(text);
};
export const box = (name: RegExp | string = /^it\b/): HTMLElement =>
  screen.getByRole("combobox", { name });
export async function pick(label: string, name?: RegExp | string): Promise<void> {
  await userEvent.click(box(name));
  await userEvent.click(await screen.findByRole("option", { name: label, hidden: true }));
}
export const toJson = (): Promise<void> =>
  userEvent.click(screen.getByRole("radio", { name: "JSON" }));
export const toForm = (): Promise<void> =>
  userEvent.click(screen.getByRole("radio", { name: "Form" }));
