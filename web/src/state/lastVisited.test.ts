// @vitest-environment happy-dom
import { createMemoryRouter } from "react-router";
import { beforeEach, expect, test } from "vitest";
import { aServer } from "../testing/views";
import { lastPath, lastServerId, recordVisit } from "./lastVisited";
import { parseLocation, pathOnServer, recordVisits } from "./navigation";
import { useInspector } from "./store";

const visit = (path: string): void => recordVisit(parseLocation(path.split("?")[0] ?? ""), path);

beforeEach(() => useInspector.setState({ run_id: "run" }));

test("each screen of each server has its own last address", () => {
  visit("/s/one/tools/echo?call=c1");
  visit("/s/one/traffic/7");
  visit("/s/two/tools/add");
  expect(lastPath("one", "tools")).toBe("/s/one/tools/echo?call=c1");
  expect(lastPath("two", "tools")).toBe("/s/two/tools/add");
  expect(lastPath("two", "traffic")).toBeUndefined();
  expect(lastServerId()).toBe("two");
});

test("addresses of another run are forgotten, its server is not", () => {
  visit("/s/one/traffic/7");
  useInspector.setState({ run_id: "next" });
  expect(lastPath("one", "traffic")).toBeUndefined();
  expect(lastServerId()).toBe("one");
});

test("a tab leads back to this session after an earlier one was looked at", () => {
  visit("/s/one/traffic/7");
  visit("/s/one/traffic?run=earlier");
  visit("/s/one/traffic/3?run=earlier&compare=4");
  expect(lastPath("one", "traffic")).toBe("/s/one/traffic/7");
});

test("a tab leads back to all of Traffic after a link narrowed it", () => {
  visit("/s/one/traffic/7?call=c3&compare=4");
  expect(lastPath("one", "traffic")).toBe("/s/one/traffic/7?compare=4");
  visit("/s/one/traffic?call=c3");
  expect(lastPath("one", "traffic")).toBe("/s/one/traffic");
});

test("another server is looked at on the same screen", () => {
  visit("/s/two/prompts/simple");
  expect(pathOnServer(parseLocation("/s/one/prompts/other"), "two")).toBe("/s/two/prompts/simple");
  expect(pathOnServer(parseLocation("/servers/one/roots"), "two")).toBe("/servers/two/roots");
  expect(pathOnServer(parseLocation("/servers/one"), "two")).toBe("/servers/two");
  expect(pathOnServer(parseLocation("/servers"), "two")).toBe("/s/two/tools");
  expect(pathOnServer(parseLocation("/traffic"), "two")).toBe("/s/two/traffic");
});

test("an address that is left before it is drawn is remembered", async () => {
  const router = createMemoryRouter([{ path: "*" }], { initialEntries: ["/s/one/logs"] });
  recordVisits(router);
  expect(lastPath("one", "logs")).toBeUndefined();
  useInspector.setState({ servers: new Map([["one", aServer({ server_id: "one" })]]) });
  expect(lastPath("one", "logs")).toBe("/s/one/logs");
  await router.navigate("/s/one/resources?template=a");
  await router.navigate("/s/one/tools/echo");
  expect(lastPath("one", "resources")).toBe("/s/one/resources?template=a");
});
