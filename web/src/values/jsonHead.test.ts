import { describe, expect, it } from "vitest";
import { membersOf, stringOf } from "./jsonHead";

const texts = (text: string) =>
  Object.fromEntries([...membersOf(text)].map(([name, part]) => [name, part.text]));

describe("the beginning of an object", () => {
  it("has the members that are there, whatever their strings hold", () => {
    const text = ' { "a" : "x,\\"}" , "b":[1,{"c":"]"}], "d": -1.0 } ';
    expect(texts(text)).toEqual({ a: '"x,\\"}"', b: '[1,{"c":"]"}]', d: "-1.0" });
    expect([...membersOf(text).values()].every((part) => part.isWhole)).toBe(true);
  });
  it("is cut anywhere without a member that is not there", () => {
    const whole = '{"id":1,"method":"tools/call","params":{"name":"a\\u0062","x":"\\\\"}}';
    for (let end = 0; end <= whole.length; end += 1) {
      const members = membersOf(whole.slice(0, end));
      const params = members.get("params");
      expect(params?.isWhole ?? false).toBe(end === whole.length);
      const name = stringOf(membersOf(params?.text ?? "").get("name"));
      expect([null, "ab"]).toContain(name);
    }
  });
  it("is nothing where there is no object", () => {
    for (const text of ["", "[1]", "no JSON", '"{"', "{", '{"a', '{"a":']) {
      expect(texts(text)).toEqual({});
    }
    expect(stringOf({ text: '"\\x"', isWhole: true })).toBeNull();
    expect(stringOf({ text: "1", isWhole: true })).toBeNull();
  });
});
