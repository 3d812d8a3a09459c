import { describe, expect, it } from "vitest";
import { pretty } from "../values/json";
import { withPartialInputs } from "./partialInput";
import { inSchemaOrder } from "./propertyOrder";

const keys = (schema: object, value: object): string =>
  JSON.stringify(inSchemaOrder(schema, value)).replace(/"/g, "");

const any = {};
const AB = { properties: { a: any, b: any } };

describe("the properties of a value", () => {
  it("stand as in the schema, whatever was edited first", () => {
    expect(keys(AB, { b: 3, a: 1 })).toBe("{a:1,b:3}");
  });
  it("that the schema does not have stand behind, as they were entered", () => {
    expect(keys(AB, { z: 1, b: 2, y: 3, a: 4 })).toBe("{a:4,b:2,z:1,y:3}");
  });
  it("are in order inside objects, lists and additional properties too", () => {
    const schema = {
      properties: { list: { items: AB }, inner: AB },
      additionalProperties: AB,
    };
    const value = { x: { b: 1, a: 2 }, inner: { b: 1, a: 2 }, list: [{ b: 1, a: 2 }, null] };
    expect(keys(schema, value)).toBe("{list:[{a:2,b:1},null],inner:{a:2,b:1},x:{a:2,b:1}}");
  });
  it("of an alternative or a part stand behind those beside it", () => {
    const schema = { ...AB, oneOf: [{ properties: { d: any } }, { properties: { c: any } }] };
    expect(keys(schema, { c: 1, b: 2 })).toBe("{b:2,c:1}");
    expect(keys({ allOf: [AB, { properties: { c: AB } }] }, { c: { b: 1, a: 1 }, b: 1 })).toBe(
      "{b:1,c:{a:1,b:1}}",
    );
  });
  it("stay as they are where nothing describes them", () => {
    expect(keys({}, { b: { d: 1, c: 1 }, a: 1 })).toBe("{b:{d:1,c:1},a:1}");
  });
});

it("what is no value yet is sent at its place too", () => {
  expect(withPartialInputs('{"b": 3}', { "/a": "abc" }, AB)).toBe(pretty({ a: "abc", b: 3 }));
});
