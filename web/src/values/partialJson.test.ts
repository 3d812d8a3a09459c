import { describe, expect, it } from "vitest";
import { readMembers, readString } from "./partialJson";

const texts = (text: string) =>
  Object.fromEntries([...readMembers(text)].map(([name, part]) => [name, part.text]));

describe("the beginning of an object", () => {
  it("has the members that are there, whatever their strings hold", () => {
    const text = ' { "a" : "x,\\"}" , "b":[1,{"c":"]"}], "d": -1.0 } ';
    expect(texts(text)).toEqual({ a: '"x,\\"}"', b: '[1,{"c":"]"}]', d: "-1.0" });
    expect([...readMembers(text).values()].every((part) => part.isWhole)).toBe(true);
  });
  it("is cut anywhere without a member that is not there", () => {
    const whole = '{"id":1,"method":"tools/call","params":{"name":"a\\u0062","x":"\\\\"}}';
    for (let end = 0; end <= whole.length; end += 1) {
      const members = readMembers(whole.slice(0, end));
      const params = members.get("params");
      expect(params?.isWhole ?? false).toBe(end === whole.length);
      const name = readString(readMembers(params?.text ?? "").get("name"));
      expect([null, "ab"]).toContain(name);
    }
  });
  it("is nothing where there is no object", () => {
    for (const text of ["", "[1]", "no JSON", '"{"', "{", '{"a', '{"a":']) {
      expect(texts(text)).toEqual({});
    }
    expect(readString({ text: '"\\x"', isWhole: true })).toBeNull();
    expect(readString({ text: "1", isWhole: true })).toBeNull();
  });
});
