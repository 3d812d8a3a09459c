// @vitest-environment happy-dom
import { describe, expect, it, vi } from "vitest";
import type { QuestionView } from "../api/types";
import { apply } from "../state/store";
import { aHello } from "../testing/views";
import { draftKey } from "./answerDrafts";
import { formProblem, parseSampling } from "./questionParams";
import { questionSummary } from "./questionSummary";
import { mayBeRounded } from "./RequestParams";
import { inputFor, resultOf } from "./samplingAnswer";

describe("a question in a few words", () => {
  const sampling = (...messages: unknown[]): string =>
    questionSummary({ method: "sampling/createMessage", params: { messages } } as QuestionView);
  const text = (words: string) => ({ role: "user", content: { type: "text", text: words } });
  const image = { role: "user", content: [{ type: "image", data: "" }] };

  it("is the last text, whatever follows it", () => {
    expect(sampling(text("first"), text("What is this?"), image)).toBe("What is this?");
    expect(sampling({ role: "user", content: [text("in a list").content, image.content[0]] })).toBe(
      "in a list",
    );
    expect(sampling(image)).toBe("image");
    expect(sampling()).toBe("");
  });
  it("is the message of an elicitation", () => {
    expect(
      questionSummary({
        method: "elicitation/create",
        params: { message: "Who?" },
      } as QuestionView),
    ).toBe("Who?");
  });
});

describe("the input of a new tool call", () => {
  it("has the defaults and something for what is required", () => {
    const properties = {
      a: { type: "number" },
      b: { type: "string" },
      c: { enum: ["x", "y"] },
      d: { type: "integer", default: 4 },
      e: { type: "constructor" },
      left: { type: "string" },
    };
    const schema = { type: "object", properties, required: ["a", "b", "c", "e"] };
    expect(JSON.parse(inputFor(schema))).toEqual({ a: 0, b: "", c: "x", d: 4, e: null });
  });
  it.each([undefined, null, "no", { properties: 4, required: 1 }, { properties: { a: 1 } }])(
    "of schema %j is empty",
    (schema) => expect(inputFor(schema)).toBe("{}"),
  );
});

describe("numbers that a browser may have rounded", () => {
  it.each(["12345678901234567890", "1e400", "0.12345678901234567"])("%s is one", (written) => {
    expect(mayBeRounded({ a: [{ b: JSON.parse(written) }] })).toBe(true);
  });
  it.each([null, "12345678901234567890", 9007199254740991, 0.1, -2, 1763280000.123])(
    "%j is none",
    (value) => expect(mayBeRounded([value])).toBe(false),
  );
});

describe("resultOf", () => {
  const draft = {
    text: "4",
    model: "m",
    stopReason: "endTurn",
    toolCalls: [],
    toolChoice: "auto",
    tool: null,
    profile: "manual",
  };
  it("answers with a text", () => {
    expect(JSON.parse(resultOf(draft, {}))).toEqual({
      role: "assistant",
      model: "m",
      stopReason: "endTurn",
      content: { type: "text", text: "4" },
    });
  });
  it("answers with tool calls", () => {
    const result = resultOf(
      {
        ...draft,
        text: "",
        stopReason: "toolUse",
        toolCalls: [{ name: "add", input: '{"a": 12345678901234567890, "b": 1.0}' }],
      },
      {},
    );
    expect(result).toContain('"input":{"a": 12345678901234567890, "b": 1.0}');
    const { content } = JSON.parse(result);
    expect(content).toMatchObject([{ type: "tool_use", id: "call_1", name: "add" }]);
  });
  it("never uses the id of an earlier tool call again", () => {
    const use = { type: "tool_use", id: "call_1", name: "add", input: {} };
    const other = { ...use, id: "call_3" };
    const messages = [
      { role: "assistant", content: [use] },
      { role: "assistant", content: other },
    ];
    const calls = [
      { name: "add", input: "" },
      { name: "add", input: "" },
    ];
    const result = resultOf(
      { ...draft, text: "", stopReason: "toolUse", toolCalls: calls },
      { messages },
    );
    const ids = JSON.parse(result).content.map((block: { id: string }) => block.id);
    expect(ids).toEqual(["call_2", "call_4"]);
  });
});

describe("samplingOf", () => {
  it.each([
    null,
    "words",
    [],
    { messages: "none", tools: {}, stopSequences: 4, modelPreferences: { hints: "one" } },
    { messages: [null, "words", 4], tools: [null, "add", { name: 4 }], modelPreferences: 3 },
    { messages: {}, toolChoice: "required", includeContext: { of: "all" } },
  ])("reads %j without failing", (params) => {
    const asked = parseSampling(params);
    expect(asked.violations.length).toBeGreaterThan(0);
    for (const tool of asked.tools) expect(typeof tool.name).toBe("string");
  });
  it("finds nothing odd about an ordinary request", () => {
    const asked = parseSampling({
      messages: [{ role: "user", content: { type: "text", text: "hello" } }],
      modelPreferences: { hints: [{ name: "claude" }], costPriority: 0 },
      tools: [{ name: "add" }],
      toolChoice: { mode: "required" },
      stopSequences: ["END"],
    });
    expect(asked).toMatchObject({
      violations: [],
      hints: ["claude"],
      toolChoice: "required",
      facts: [
        ["Stop sequences", "END"],
        ["Tool choice", "required"],
        ["Cost", "0"],
      ],
    });
  });
  it("tells all of a tool choice", () => {
    const toolChoice = { mode: "auto", disable: true };
    expect(parseSampling({ messages: [], toolChoice }).facts).toEqual([
      ["Tool choice", '{"mode":"auto","disable":true}'],
    ]);
  });
  it("requires no tool where none is offered", () => {
    expect(parseSampling({ messages: [], toolChoice: { mode: "required" } }).toolChoice).toBe(
      "auto",
    );
    const tools = [{ name: "add" }];
    expect(parseSampling({ messages: [], tools, toolChoice: { mode: "any" } }).toolChoice).toBe(
      "auto",
    );
  });
});

describe("formOddity", () => {
  it("says why a form cannot be drawn", () => {
    expect(formProblem({ requestedSchema: "no" })).toContain("not a schema");
    expect(formProblem({ requestedSchema: { properties: [] } })).toContain("properties");
    expect(formProblem({ requestedSchema: { properties: { host: 4 } } })).toContain("host");
    expect(formProblem({ requestedSchema: { properties: { host: {} } } })).toBeNull();
  });
});

describe("drafts of answers", () => {
  const question = (part: Partial<QuestionView>): QuestionView =>
    ({ question_id: "demo/elicitation-1", opened: 1, is_done: false, ...part }) as QuestionView;
  const change = (value: QuestionView): void =>
    apply({
      type: "Changed",
      what: "questions",
      key: value.question_id,
      server_id: "demo",
      value,
    });

  it("are told apart by run and moment", () => {
    const keys = [
      draftKey("a", question({})),
      draftKey("b", question({})),
      draftKey("a", question({ opened: 2 })),
    ];
    expect(new Set(keys).size).toBe(3);
  });
  it("go when their question no longer waits, for whatever reason", async () => {
    apply(aHello({ run_id: "a", questions: [question({})] }));
    const stored = `mcplens.draft.${draftKey("a", question({}))}`;
    sessionStorage.setItem(stored, '"typed"');
    sessionStorage.setItem("mcplens.draft.raw.demo", '"kept"');
    change(question({ question_id: "demo/sampling-1" }));
    expect(sessionStorage.getItem(stored)).toBe('"typed"');
    change(question({ is_done: true, outcome: "timed out" }));
    await vi.waitFor(() => expect(sessionStorage.getItem(stored)).toBeNull());
    expect(sessionStorage.getItem("mcplens.draft.raw.demo")).toBe('"kept"');
  });
});
