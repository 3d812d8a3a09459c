import { describe, expect, it } from "vitest";
import { nearestPath } from "./navigation";

describe("an address that the page does not have", () => {
  it.each([
    ["/servers/demo/tools", "/s/demo/tools"],
    ["/servers/demo/tools/add", "/s/demo/tools/add"],
    ["/servers/a%2Fb/prompts/x%20y", "/s/a%2Fb/prompts/x%20y"],
    ["/servers/demo/nonsense", "/servers/demo"],
    ["/s/demo/nonsense", "/s/demo/tools"],
    ["/s/demo/roots/deep/down", "/s/demo/tools"],
    ["/servers//tools", "/servers"],
    ["/s", "/servers"],
    ["/nonsense", "/servers"],
  ])("%s leads to %s", (from, to) => {
    expect(nearestPath(from)).toBe(to);
  });
});
