// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import type { CallView } from "../api/types";
import { pythonLiteral } from "../calls/copyAs";
import { bytesToSend } from "../raw/rawRequests";
import { matching } from "../shell/Palette";
import { parseLocation, pathTo, pathToCall } from "../state/navigation";
import { anEvent } from "../testing/views";
import { hexLine } from "../values/hex";
import { expand, matches, variablesOf } from "./resources/uriTemplate";
import { formOf, problemOf, rawOf } from "./servers/serverEntry";
import { NO_FILTER, trafficMatcher } from "./traffic/trafficFilter";

describe("addresses", () => {
  it("name the server, the screen and the item, whatever characters they have", () => {
    expect(parseLocation(pathTo("a/b c", "tools", "x/y?"))).toEqual({
      server_id: "a/b c",
      screen: "tools",
      item: "x/y?",
    });
    expect(parseLocation("/")).toEqual({ server_id: null, screen: "servers", item: null });
  });
  it.each(["demo://files/a%2Fb", "a%252Fb", "100%", "#3"])("give %s back as it is", (item) => {
    expect(parseLocation(pathTo("s", "resources", item)).item).toBe(item);
  });
  it.each([".", "..", "~.", "~..", "~~..", "...", "~a", "%2e%2e", " "])(
    "stay whole in a browser, and give %j back",
    (item) => {
      for (const [path, place] of [
        [pathTo("s", "tools", item), { server_id: "s", screen: "tools", item }],
        [pathTo(item, "tools"), { server_id: item, screen: "tools", item: null }],
      ] as const)
        expect(parseLocation(new URL(path, "http://localhost/s/x/tools/y").pathname)).toEqual(
          place,
        );
    },
  );
  it("that are typed wrong are taken as they are", () => {
    const place = { server_id: "a b", screen: "tools", item: "100%" };
    expect(parseLocation("/s/a%20b/tools/100%")).toEqual(place);
  });
});

describe("a recent call", () => {
  const call = (kind: CallView["kind"], name = "x"): string =>
    pathToCall({ server_id: "s", call_id: "c1", kind, name, request_id: 7 } as CallView);
  it("is looked at where it was made, or in the traffic", () => {
    expect(call("tool")).toBe("/s/s/tools/x?call=c1");
    expect(call("resource", "a://b")).toBe("/s/s/resources/a%3A%2F%2Fb?call=c1");
    expect(call("raw", "")).toBe("/s/s/raw?call=c1");
    expect(call("request", "tools/list")).toBe("/s/s/traffic?call=c1");
  });
});

describe("URI templates", () => {
  it.each([
    ["demo://greeting/{name}", "demo://greeting/J%20Doe"],
    ["demo://{+path}", "demo://a/b"],
    ["demo://search{?query,limit}", "demo://search?query=x%26y"],
    ["demo://search?fixed=1{&query}", "demo://search?fixed=1&query=x%26y"],
    ["demo:/{/name,query}", "demo://J%20Doe/x%26y"],
    ["demo://{name:1}{#path}", "demo://J#a/b"],
  ])("expands %s", (template, uri) => {
    expect(expand(template, { name: "J Doe", path: "a/b", query: "x&y" })).toBe(uri);
  });
  it("is known by what it made", () => {
    const template = "demo://{name}/part{?page}";
    expect(matches(template, expand(template, { name: "a/b", page: "2" }))).toBe(true);
    expect(matches(template, "demo://a/part")).toBe(true);
    expect(matches(template, "demo://a/other")).toBe(false);
    expect(matches("demo://a{x}aa", "demo://aa")).toBe(false);
    expect(matches("demo://plain", "demo://plain")).toBe(false);
  });
  it("names each variable once", () => {
    expect(variablesOf("a{x}{?y,x*}")).toEqual(["x", "y"]);
  });
});

describe("a server's entry", () => {
  it("comes out of the form as it went in", () => {
    const raw = { command: "npx", args: ["-y", "a b"], env: { KEY: "1" }, unknown: { kept: true } };
    expect(rawOf(formOf("x", raw))).toEqual(raw);
    const remote = { url: "https://example.com/mcp", headers: { A: "b" }, requestTimeout: 5 };
    expect(rawOf(formOf("y", remote))).toEqual(remote);
  });
  it("says what is missing", () => {
    expect(problemOf(formOf("", {}))).toContain("name");
    expect(problemOf(formOf("x", { url: "ftp://x" }))).toContain("URL");
    expect(problemOf(formOf("x", { command: "npx" }))).toBeNull();
  });
});

describe("traffic", () => {
  it("is filtered by layer, direction, fault, id and text", () => {
    const event = anEvent({
      seq: 1,
      kind: "FrameReceived",
      status: "malformed",
      malformed: "bad JSON",
      head: "{oops",
    });
    expect(trafficMatcher({ ...NO_FILTER, status: "malformed" }, "demo")(event)).toBe(true);
    expect(trafficMatcher({ ...NO_FILTER, direction: "out" }, "demo")(event)).toBe(false);
    expect(trafficMatcher({ ...NO_FILTER, text: "OOPS malformed" }, null)(event)).toBe(true);
    expect(trafficMatcher({ ...NO_FILTER, layer: "http" }, null)(event)).toBe(false);
    expect(trafficMatcher(NO_FILTER, null, { isLinked: () => false })(event)).toBe(false);
    expect(trafficMatcher(NO_FILTER, "other")(event)).toBe(false);
  });
  it("shows bytes in hexadecimal", () => {
    expect(hexLine(new Uint8Array([0x7b, 0xff, 0x0a]), 0, 16)).toMatchObject({
      offset: "00000000",
      text: "{··",
    });
    // Half as many on a line of a narrow pane.
    const narrow = hexLine(new TextEncoder().encode("Internal error"), 1, 8);
    expect(narrow).toEqual({ offset: "00000008", hex: "20 65 72 72 6f 72      ", text: " error" });
  });
});

describe("other words for a call", () => {
  it("writes JSON as Python", () => {
    expect(pythonLiteral({ a: [true, null, "x"] })).toBe('{\n    "a": [True, None, "x"],\n}');
  });
  it("sends valid JSON in one line to a command, and anything else as it is", () => {
    expect(bytesToSend('{\n  "a": 1\n}', true)).toBe('{ "a": 1 }');
    expect(bytesToSend("{\n broken", true)).toBe("{\n broken");
    expect(bytesToSend("{\n}", false)).toBe("{\n}");
  });
});

describe("the palette", () => {
  it("puts what begins with the word first", () => {
    const entries = [
      { label: "read-add", about: "" },
      { label: "add", about: "" },
      { label: "echo", about: "" },
    ];
    expect(matching(entries, "add").map((entry) => entry.label)).toEqual(["add", "read-add"]);
  });
});
