import { MantineProvider } from "@mantine/core";
import { act, fireEvent, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter, useLocation } from "react-router";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { CallView, QuestionView, ServerView } from "../api/types";
import { NotConnected } from "../servers/NotConnected";
import { startCall } from "../state/commands";
import { ring } from "../state/events";
import { emptyInspector, useInspector } from "../state/store";
import { anEvent, aServer, aTask } from "../testing/views";
import { QuestionScreen } from "./questions/QuestionScreen";
import { Questions } from "./questions/Questions";
import { ResourcePanel } from "./resources/ResourcePanel";
import { TaskDetail } from "./tasks/TaskDetail";

vi.mock("../state/commands");

const started = vi.mocked(startCall);

const ERROR = { code: "X", message: "no", category: "protocol", details: {}, helpUrl: "" };

const aCall = (call_id: string, part: Partial<CallView> = {}): CallView =>
  ({
    call_id,
    server_id: "demo",
    kind: "resource",
    method: "resources/read",
    name: "demo://x",
    request: null,
    request_id: null,
    request_seqs: [],
    status: "error",
    started: 1,
    elapsed_s: 1,
    progress: null,
    awaiting: [],
    findings: [],
    error: ERROR,
    ...part,
  }) as unknown as CallView;

const QUESTION = {
  question_id: "q1",
  server_id: "demo",
  method: "elicitation/create",
  call_id: "c1",
  is_done: true,
  params: {},
} as unknown as QuestionView;

function Address() {
  const { pathname, search } = useLocation();
  return <output>{pathname + search}</output>;
}

const within = (what: ReactNode, path: string) => (
  <MantineProvider env="test">
    <MemoryRouter initialEntries={[path]}>
      {what}
      <Address />
    </MemoryRouter>
  </MantineProvider>
);

const know = (...calls: CallView[]): void =>
  useInspector.setState({
    ...emptyInspector(),
    run_id: "run",
    servers: new Map([["demo", aServer()]]),
    calls: new Map(calls.map((call) => [call.call_id, call])),
    questions: new Map([["q1", QUESTION]]),
  });

beforeEach(() => {
  // As it does: the call is known before the answer is.
  started.mockImplementation((type) => {
    const old = useInspector.getState().calls.get("c1");
    const call = type === "RepeatCall" && old ? { ...old, call_id: "c2" } : aCall("c2");
    const calls = new Map(useInspector.getState().calls).set("c2", call);
    useInspector.setState({ calls });
    return Promise.resolve(call);
  });
});

describe("before the backend has said anything", () => {
  it.each([
    ["of a server", "/s/demo/tools", <NotConnected key="a" server={undefined} icon="tools" />],
    ["of a question", "/questions/q1", <QuestionScreen key="b" />],
    ["of all questions", "/questions", <Questions key="c" />],
  ])("a screen %s claims nothing", (_, path, what) => {
    useInspector.setState(emptyInspector());
    render(within(what, path));
    expect(screen.getByText("Loading…")).toBeTruthy();
    act(() => useInspector.setState({ run_id: "run" }));
    expect(screen.queryByText("Loading…")).toBeNull();
  });
});

describe("a call that is sent again", () => {
  const again = async (): Promise<void> =>
    act(async () => void fireEvent.click(screen.getByRole("button", { name: "Send again" })));

  it("is shown in place of the one that the address named", async () => {
    know(aCall("c1"));
    const panel = (
      <ResourcePanel
        server={aServer()}
        uri="demo://x"
        itemKey="demo://x"
        resource={null}
        problem={null}
      />
    );
    render(within(panel, "/s/demo/resources/demo%3A%2F%2Fx?call=c1"));
    await again();
    expect(screen.getByText("/s/demo/resources/demo%3A%2F%2Fx?call=c2")).toBeTruthy();
    expect(screen.getByText("2 calls")).toBeTruthy();
  });
  it("is shown in the task that it is about", async () => {
    know(aCall("c1", { kind: "request", method: "tasks/result", name: "old" }));
    started.mockImplementation(() => {
      const call = aCall("c2", { kind: "request", name: "new" });
      useInspector.setState({ calls: new Map([["c2", call]]) });
      return Promise.resolve(call);
    });
    const task = aTask({ call_id: "c1" });
    render(within(<TaskDetail task={task} server={aServer()} onClose={() => {}} />, "/"));
    await again();
    expect(screen.getByLabelText("Call of new")).toBeTruthy();
  });
  it("is gone to from its question", async () => {
    know(aCall("c1", { kind: "tool", name: "ask" }));
    render(within(<QuestionScreen />, "/questions/q1"));
    await again();
    expect(screen.getByText("/s/demo/tools/ask?call=c2")).toBeTruthy();
  });
});

describe("a question whose call is not known", () => {
  const free = { ...QUESTION, call_id: null, request_seq: 3 };
  const waits = (question_id: string, server_id: string, message: string): QuestionView => ({
    ...free,
    question_id,
    server_id,
    is_done: false,
    params: { message },
  });

  it("leads on to the next one of its server, to the calls that waited and to all", () => {
    know(aCall("c1", { kind: "tool", name: "ask" }));
    const detail = { question_seq: 3, call_ids: ["c1", "forgotten"] };
    ring.restart();
    ring.append([anEvent({ seq: 4, kind: "RequestPaused", detail })]);
    const others = [waits("q2", "other", "Elsewhere?"), waits("q3", "demo", "And you?")];
    useInspector.setState({
      questions: new Map([free, ...others].map((one) => [one.question_id, one])),
    });
    render(within(<QuestionScreen />, "/questions/q1"));
    const links = screen.getAllByRole("link");
    expect(links.map((link) => link.getAttribute("href"))).toEqual([
      "/questions/q3",
      "/s/demo/tools/ask?call=c1",
      "/questions",
    ]);
    expect(links[0]?.textContent).toBe("Next question: And you?");
  });
});

describe("the call of a question", () => {
  it("is looked at in the traffic where no screen has made it", () => {
    know(aCall("c1", { kind: "request", method: "tasks/result", name: "t1", request_id: 7 }));
    render(within(<QuestionScreen />, "/questions/q1"));
    expect(screen.getByRole("link", { name: "t1" }).getAttribute("href")).toBe(
      "/s/demo/traffic?call=c1",
    );
  });
});

describe("a resource that is chosen while its server is away", () => {
  it("is read when the server comes back, once", () => {
    know();
    const panel = (state: "DISCONNECTED" | "CONNECTED") =>
      within(
        <ResourcePanel
          server={aServer({ state })}
          uri="demo://x"
          itemKey="demo://x"
          resource={null}
          problem={null}
        />,
        "/s/demo/resources/demo%3A%2F%2Fx",
      );
    const { rerender } = render(panel("DISCONNECTED"));
    expect(screen.getByText("Not read")).toBeTruthy();
    expect(started).not.toHaveBeenCalled();
    rerender(panel("CONNECTED"));
    rerender(panel("DISCONNECTED"));
    rerender(panel("CONNECTED"));
    expect(started).toHaveBeenCalledTimes(1);
  });
});

describe("a resource that is followed", () => {
  const AT = "/s/demo/resources/demo%3A%2F%2Fx";
  const followed = (updated: number | null, since = 0) =>
    aServer({ since, subscriptions: [{ uri: "demo://x", updated, updates: 1, error: null }] });
  const panel = (server: ServerView) =>
    within(
      <ResourcePanel
        server={server}
        uri="demo://x"
        itemKey="demo://x"
        resource={null}
        problem={null}
      />,
      AT,
    );
  const done: Partial<CallView> = { status: "completed", error: null, result_size_bytes: 0 };
  const running: Partial<CallView> = { status: "in_progress", error: null, elapsed_s: null };
  const came = (...calls: CallView[]): void => act(() => know(...calls));

  it("is read when it is older than its last update, and not before", async () => {
    started.mockResolvedValue(aCall("c9"));
    know(aCall("c1", { ...done, started: 10 }));
    const { rerender, unmount } = render(panel(followed(9)));
    expect(started).not.toHaveBeenCalled();
    rerender(panel(followed(11)));
    expect(started).toHaveBeenCalledTimes(1);
    await act(async () => undefined);
    // Whatever comes while it is read is one more reading, after that.
    came(aCall("c1", { ...done, started: 10 }), aCall("c2", { ...running, started: 12 }));
    rerender(panel(followed(13)));
    rerender(panel(followed(14)));
    expect(started).toHaveBeenCalledTimes(1);
    came(aCall("c2", { ...done, started: 12 }));
    expect(started).toHaveBeenCalledTimes(2);
    await act(async () => undefined);
    unmount();
    // The same for who comes back to it.
    render(panel(followed(15)));
    expect(started).toHaveBeenCalledTimes(3);
  });
  it("is read again on another connection, which knows nothing of changes before it", () => {
    started.mockResolvedValue(aCall("c9"));
    know(aCall("c1", { ...done, started: 10 }));
    render(panel(followed(null, 11)));
    expect(started).toHaveBeenCalledTimes(1);
  });
  it("is read once for a change, though a clock was set back since", async () => {
    started.mockResolvedValue(aCall("c9"));
    know(aCall("c1", { ...done, started: 10 }));
    render(panel(followed(11)));
    await act(async () => undefined);
    came(aCall("c2", { ...running, started: 5 }));
    came(aCall("c2", { ...done, started: 5 }));
    expect(started).toHaveBeenCalledTimes(1);
  });
  it("stays as it is while it is read again", () => {
    know(aCall("c1", { ...done, started: 10 }), aCall("c2", { ...running, started: 12 }));
    render(panel(followed(11)));
    expect(screen.getByText("Done")).toBeTruthy();
    expect(screen.queryByText("Running")).toBeNull();
  });
});

describe("a resource that is passed by keyboard", () => {
  it("is read after a rest, or when it is chosen", () => {
    vi.useFakeTimers();
    know();
    const panel = (
      <ResourcePanel
        server={aServer()}
        uri="demo://x"
        itemKey="demo://x"
        resource={null}
        problem={null}
      />
    );
    const at = (isStep: boolean) => (
      <MantineProvider env="test">
        <MemoryRouter initialEntries={[{ pathname: "/s/demo/resources/x", state: { isStep } }]}>
          {panel}
        </MemoryRouter>
      </MantineProvider>
    );
    const passed = render(at(true));
    vi.advanceTimersByTime(200);
    passed.unmount();
    vi.advanceTimersByTime(1000);
    expect(started).not.toHaveBeenCalled();
    const rested = render(at(true));
    vi.advanceTimersByTime(1000);
    expect(started).toHaveBeenCalledTimes(1);
    rested.unmount();
    know();
    render(at(false));
    expect(started).toHaveBeenCalledTimes(2);
    vi.useRealTimers();
  });
});
