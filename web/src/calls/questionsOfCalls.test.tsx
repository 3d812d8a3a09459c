import { MantineProvider } from "@mantine/core";
import { act, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter } from "react-router";
import { beforeAll, describe, expect, it } from "vitest";
import type { QuestionView } from "../api/types";
import { waitingQuestions } from "../questions/waitingQuestions";
import { Questions } from "../screens/questions/Questions";
import { emptyInspector, useInspector } from "../state/store";
import { aCall } from "../testing/views";
import { CallPanel, panelModule } from "./CallPanel";

beforeAll(() => panelModule.load());

describe("a question that names no call", () => {
  const question = (question_id: string, part: Partial<QuestionView>): [string, QuestionView] => [
    question_id,
    {
      question_id,
      server_id: "demo",
      method: "roots/odd",
      call_id: null,
      is_done: false,
      opened: 1,
      deadline: null,
      round: null,
      params: {},
      ...part,
    } as QuestionView,
  ];
  const waiting = { status: "in_progress", elapsed_s: null, is_waiting_on_user: true } as const;
  const renderCall = (call_id: string): void => {
    const calls = ["a", "b", "asked"].map((id) => aCall({ ...waiting, call_id: id }));
    useInspector.setState({
      ...emptyInspector(),
      calls: new Map(calls.map((call) => [call.call_id, call])),
      questions: new Map([
        question("q1", {}),
        question("q2", { server_id: "other" }),
        question("q3", { call_id: "asked" }),
        question("q4", { is_done: true }),
      ]),
    });
    render(
      <MantineProvider env="test">
        <MemoryRouter>
          <CallPanel call={aCall({ ...waiting, call_id })} />
        </MemoryRouter>
      </MantineProvider>,
    );
  };

  it("is left to the newest call that it may belong to; others link to it", () => {
    renderCall("a");
    expect(screen.getByText("A question is waiting that may belong to this call")).toBeTruthy();
    expect(screen.queryAllByRole("button", { name: "Reject" })).toHaveLength(0);
  });

  it("is not shown beside a call that has a question of its own", () => {
    renderCall("asked");
    expect(screen.getByLabelText(/^Question: /)).toBeTruthy();
  });

  it("comes after those of known calls where all are listed", () => {
    renderCall("b");
    const listed = waitingQuestions(useInspector.getState().questions);
    expect(listed.map((one) => one.question_id)).toEqual(["q3", "q1", "q2"]);
  });

  it("is answered beside one call that it may belong to, which has one way to be cancelled", () => {
    renderCall("b");
    expect(screen.getByText("1 question is waiting that may belong to this call")).toBeTruthy();
    expect(screen.getAllByRole("button", { name: "Reject" })).toHaveLength(1);
    expect(screen.getAllByRole("button", { name: /Cancel/ })).toHaveLength(1);
  });
});

describe("thousands of questions of one call", () => {
  const call = aCall({ status: "in_progress", elapsed_s: null, is_waiting_on_user: true });
  const asked = (at: number): [string, QuestionView] => [
    `q${at}`,
    {
      question_id: `q${at}`,
      server_id: call.server_id,
      method: "roots/odd",
      call_id: call.call_id,
      is_done: false,
      opened: at,
      deadline: null,
      round: null,
      params: { message: `ask ${at}` },
    } as unknown as QuestionView,
  ];
  const ask = (from: number): void =>
    useInspector.setState({
      ...emptyInspector(),
      run_id: "r",
      questions: new Map(Array.from({ length: 3000 - from }, (_, at) => asked(at + from))),
    });
  const show = (shown: ReactNode): HTMLElement =>
    render(
      <MantineProvider env="test">
        <MemoryRouter>{shown}</MemoryRouter>
      </MantineProvider>,
    ).container;
  const drawn = (): string[] =>
    [...document.querySelectorAll("[id^=q]")].map(({ id }) => id).filter((id) => /^q\d/.test(id));

  it("are drawn a few at a time; each that ends makes room", () => {
    ask(0);
    show(<CallPanel call={call} />);
    expect(screen.getByText("3,000 questions are waiting for you")).toBeTruthy();
    expect(drawn()).toEqual(["q0", "q1", "q2", "q3", "q4"]);
    expect(screen.getByText("2,995 more are waiting")).toBeTruthy();
    expect(screen.getByText("All questions").getAttribute("href")).toBe("/questions");
    act(() => ask(2));
    expect(drawn()).toEqual(["q2", "q3", "q4", "q5", "q6"]);
  });
  it("can each be opened", () => {
    ask(0);
    show(<CallPanel call={call} questionId="q2000" />);
    expect(drawn()).toEqual(["q2000", "q0", "q1", "q2", "q3"]);
  });
  it("are listed in pieces", () => {
    ask(0);
    const page = show(<Questions />);
    expect(page.querySelectorAll("tbody tr")).toHaveLength(101);
    expect(screen.getByText("2,900 more questions")).toBeTruthy();
  });
});
