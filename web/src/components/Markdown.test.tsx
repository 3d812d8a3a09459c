import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { looksLikeMarkdown, Markdown } from "./Markdown";

function shown(text: string): HTMLElement {
  return render(
    <MantineProvider>
      <Markdown text={text} label="Instructions" />
    </MantineProvider>,
  ).container;
}

// Each of these takes minutes where a pattern looks far ahead from many places.
const LONG = {
  "empty lines around a bullet": `${"\n".repeat(50_000)}- a${"\n".repeat(50_000)}`,
  "spaces in many lines": `${" ".repeat(400)}\n`.repeat(400),
  "brackets that never close": "[".repeat(190_000),
  "links that never end": `[a](${"x".repeat(16)}`.repeat(9_000),
  "a heading of spaces": `#${" ".repeat(150_000)}x\u2028y`,
  "stars in pairs": "**a *".repeat(4_000),
  "one line that is no list": `- a${" ".repeat(150_000)}\n${" ".repeat(40_000)}b`,
};

describe("Markdown", () => {
  it.each(Object.entries(LONG))("is read in one go: %s", (_, text) => {
    expect(typeof looksLikeMarkdown(text)).toBe("boolean");
    expect(shown(text).textContent).toBeDefined();
  });
  it("draws headings, lists with the lines that continue them, and links", () => {
    const drawn = shown("##  Title \n1. one\n   more\n2) two [a link](https://example.com/a)");
    expect(drawn.querySelector("h5")?.textContent).toBe("Title");
    const items = [...drawn.querySelectorAll("ol li")].map((item) => item.textContent);
    expect(items).toEqual(["one\n   more", "two a link"]);
    expect(screen.getByRole("link").getAttribute("href")).toBe("https://example.com/a");
  });
  it("is guessed from two bullets, not from one", () => {
    expect(looksLikeMarkdown("see\n\n  - one\ntext\n  - two")).toBe(true);
    expect(looksLikeMarkdown("- one\n\ntext - two")).toBe(false);
    expect(looksLikeMarkdown("[here](https://example.com)")).toBe(true);
  });
  it("shows what is too long as it is, and says so", () => {
    const drawn = shown(`# Title\n${"word ".repeat(50_000)}`);
    expect(screen.getByRole("note").textContent).toContain("250,008 characters");
    expect(drawn.querySelector("h4")).toBeNull();
    expect(screen.getByRole("region", { name: "Instructions" })).toBeTruthy();
  });
});
