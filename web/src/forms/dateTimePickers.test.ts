import { describe, expect, it } from "vitest";
import { PICKERS } from "./dateTimePickers";
import { validate } from "./validate";

describe("moments", () => {
  it.each([
    ["date", "2026-01-31"],
    ["time", "13:45"],
    ["time", "13:45:10"],
    ["date-time", "2026-07-31T13:45"],
    ["date-time", "2026-07-31T13:45:59"],
    ["date-time", "0002-01-01T00:00"],
  ] as const)("of format %s are valid when picked: %s", (format, picked) => {
    const picker = PICKERS[format];
    const value = picker.picked(picked);
    expect(validate({ type: "string", format }, value)).toEqual([]);
    expect(picker.shown(value)?.startsWith(picked)).toBe(true);
  });
  it.each([
    ["date", "31.1.2026"],
    ["time", "13:45"],
    ["date-time", "2026-07-31 13:45:00"],
    ["date-time", "2026-07-31T13:45:00.123Z"],
    ["date-time", "2026-07-31T13:45:00+13:37"],
  ] as const)("of format %s that the picker cannot show stay text: %s", (format, value) =>
    expect(PICKERS[format].shown(value)).toBeNull(),
  );
});
