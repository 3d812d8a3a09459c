import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { LinkView, QuestionView } from "../api/types";
import { QuestionPanel } from "./QuestionPanel";

function ask(url: string, link: LinkView | null): void {
  const question = {
    question_id: "demo/elicitation-1",
    server_id: "demo",
    method: "elicitation/create",
    mode: "url",
    opened: 1,
    deadline: null,
    round: null,
    link,
    params: { mode: "url", message: "Please sign in", url },
  } as unknown as QuestionView;
  render(
    <MantineProvider env="test">
      <QuestionPanel question={question} />
    </MantineProvider>,
  );
}
const openButton = (): HTMLButtonElement => screen.getByRole("button", { name: "Open" });

it("an address is shown with the backend's host and warnings, and no others", () => {
  const warning = "It is http: others can read what you type there.";
  const url = "http://127.evil.com:8080/";
  ask(url, { url, host: "127.evil.com", warnings: [warning], is_openable: true });
  const about = screen.getByText("127.evil.com").parentElement;
  expect(about?.textContent?.endsWith(`Verify the domain.${warning}`)).toBe(true);
  expect(openButton().disabled).toBe(false);
});

it.each([
  ["that the backend refuses", { url: "file:///x", host: "", warnings: [], is_openable: false }],
  ["that the backend has not seen", null],
])("an address %s cannot be opened", (_, link) => {
  ask("https://example.com/", link);
  expect(openButton().disabled).toBe(true);
  expect(screen.getByText(/Do not open this address/)).toBeTruthy();
});
