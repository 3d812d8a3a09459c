// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { withBasePath } from "./basePath";
import { signIn } from "./session";

let answer: (response: Response | Error) => void = () => {};

beforeEach(() => {
  const answered = new Promise<Response>((resolve, reject) => {
    answer = (response) => (response instanceof Error ? reject(response) : resolve(response));
  });
  vi.stubGlobal("fetch", () => answered);
  history.replaceState({ key: "k" }, "", "/servers?add#token=secret");
});

afterEach(() => {
  vi.unstubAllGlobals();
  history.replaceState(null, "", "/");
});

it("keeps the token in the address until it is signed in, and no longer", async () => {
  const signing = signIn();
  expect(location.hash).toBe("#token=secret");
  answer(Response.json({ return_key: null, folder: "/k/mine" }));
  await signing;
  expect(location.pathname + location.search + location.hash).toBe("/servers?add");
  expect(history.state).toEqual({ key: "k" });
  expect(withBasePath("/api")).toBe("/k/mine/api");
  // Back to an entry that was left while it was on its way.
  history.replaceState(null, "", "/s/demo/tools#token=secret");
  dispatchEvent(new PopStateEvent("popstate"));
  expect(location.pathname + location.hash).toBe("/s/demo/tools");
});

it("drops a token that was refused", async () => {
  const signing = signIn();
  answer(new Response(null, { status: 401 }));
  await signing;
  expect(location.hash).toBe("");
});

it("keeps the token where nobody answered, for who loads the page again", async () => {
  const signing = signIn();
  answer(new TypeError("Failed to fetch"));
  await signing;
  expect(location.hash).toBe("#token=secret");
});
