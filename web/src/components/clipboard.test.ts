// @vitest-environment happy-dom
import { notifications, notificationsStore } from "@mantine/notifications";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { copyText } from "./clipboard";

const told = (): unknown => {
  const { notifications, queue } = notificationsStore.getState();
  return [...notifications, ...queue].at(-1)?.message;
};

describe("copying where the browser has no clipboard", () => {
  // What was selected when the command came, and where that stood.
  let copied: { text: string; parent: Element | null }[];
  const command = vi.fn((): boolean => {
    const field = document.activeElement as HTMLTextAreaElement;
    const text = field.value.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0);
    copied.push({ text, parent: field.parentElement });
    return true;
  });
  beforeEach(() => {
    copied = [];
    command.mockClear();
    vi.stubGlobal("navigator", {});
    document.execCommand = command;
    document.body.innerHTML =
      '<button id="outside">x</button><section aria-modal="true"><button id="inside">y</button></section>';
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    notifications.clean();
    document.body.innerHTML = "";
  });
  const focus = (id: string): void => document.getElementById(id)?.focus();

  it("selects the text beside the button, within its dialog, and gives the focus back", async () => {
    focus("inside");
    await copyText("one\ntwo");
    const dialog = document.querySelector("section");
    expect(copied).toEqual([{ text: "one\ntwo", parent: dialog }]);
    expect(document.activeElement?.id).toBe("inside");
    expect(document.querySelector("textarea")).toBeNull();
    expect(told()).toBe("Copied");
  });
  it("stays within the dialog that is open, whatever had the focus", async () => {
    (document.activeElement as HTMLElement | null)?.blur();
    await copyText("text");
    expect(copied[0]?.parent?.tagName).toBe("SECTION");
  });
  it("stands in the page where there is no dialog", async () => {
    document.querySelector("section")?.remove();
    focus("outside");
    await copyText("text");
    expect(copied[0]?.parent).toBe(document.body);
    expect(document.activeElement?.id).toBe("outside");
  });
  it("says that it was not allowed", async () => {
    command.mockReturnValueOnce(false);
    await copyText("text");
    expect(told()).toBe("The browser did not allow copying.");
    expect(document.querySelector("textarea")).toBeNull();
  });
  it("is not tried where the clipboard takes the text", async () => {
    const writeText = vi.fn(async () => undefined);
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    await copyText("text");
    expect(writeText).toHaveBeenCalledWith("text");
    expect(command).not.toHaveBeenCalled();
  });
});
