// @vitest-environment happy-dom
import { afterEach, describe, expect, it } from "vitest";
import { type FocusTarget, focusTarget } from "./navigationFocus";

let stop = (): void => {};

function go(html: string, focus: FocusTarget): HTMLElement {
  document.body.innerHTML = `<main tabindex="-1">${html}</main><input id="elsewhere" />`;
  const main = document.querySelector("main") as HTMLElement;
  stop = focusTarget(main, focus);
  return main;
}

const focused = (): string | undefined => document.activeElement?.id;
const drawn = (): Promise<void> => new Promise((done) => setTimeout(done));

afterEach(() => {
  stop();
  document.body.innerHTML = "";
});

describe("the palette leads the focus", () => {
  it.each([
    ["item", '<h2>T</h2><div data-fields="there"><input id="a" /></div>', "a"],
    ["item", '<h2>T</h2><div data-fields="there"></div><button data-run id="run"></button>', "run"],
    ["item", '<h2>R</h2><button data-run id="again"></button>', "again"],
    ["item", '<h2 id="r">R</h2><button data-run disabled></button>', "r"],
    ["screen", '<h1>T</h1><div role="listbox" tabindex="0" id="list"></div>', "list"],
    ["screen", '<h1 id="head">S</h1><button>Add</button>', "head"],
  ] as const)("of the kind %s in %s to %s", (focus, html, expected) => {
    go(html, focus);
    expect(focused()).toBe(expected);
  });
  it("to the heading until the form has come", async () => {
    const main = go(
      '<h2 id="head">T</h2><div data-fields="coming"></div><button data-run></button>',
      "item",
    );
    expect(focused()).toBe("head");
    const form = main.querySelector("[data-fields]") as HTMLElement;
    form.innerHTML = '<input id="a" />';
    await drawn();
    expect(focused()).toBe("a");
  });
  it("nowhere once somebody has gone elsewhere", async () => {
    const main = go("", "item");
    document.getElementById("elsewhere")?.focus();
    main.innerHTML = '<div data-fields="there"><input id="a" /></div>';
    await drawn();
    expect(focused()).toBe("elsewhere");
  });
});
