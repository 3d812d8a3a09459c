import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { beforeAll, describe, expect, it } from "vitest";
import { isEasyMarkdown } from "../values/easyMarkdown";
import { looksLikeMarkdown, Markdown, markdownModule } from "./Markdown";

beforeAll(async () => void (await markdownModule.load()));

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
  "spaces in many lines": `${" ".repeat(400)}\n`.repeat(240),
  "brackets that never close": "[".repeat(190_000),
  "links that never end": `[a](${"x".repeat(16)}`.repeat(9_000),
  "a heading of spaces": `#${" ".repeat(90_000)}x\u2028y`,
  "stars in pairs": "**a *".repeat(4_000),
  "emphasis that never ends": "*a _b ".repeat(20_000),
  "code that never ends": "`a ``b ".repeat(20_000),
  "quotes in quotes": ">".repeat(20_000),
  "quotes and items in turn": "> - ".repeat(20_000),
  "lists in lists": "- ".repeat(20_000),
  "one line that is no list": `- a${" ".repeat(70_000)}\n${" ".repeat(20_000)}b`,
};

describe("Markdown", () => {
  it.each(Object.entries(LONG))("is read in one go: %s", (_, text) => {
    expect(typeof looksLikeMarkdown(text)).toBe("boolean");
    expect(shown(text).textContent).toBeDefined();
  });
  it("draws headings, lists with the lines that continue them, and links", () => {
    const drawn = shown("##  Title \n1. one\n   more\n2. two [a link](https://example.com/a)");
    expect(drawn.querySelector("h5")?.textContent).toBe("Title");
    const items = [...drawn.querySelectorAll("ol li")].map((item) => item.textContent);
    expect(items).toEqual(["one\nmore", "two a link"]);
    expect(screen.getByRole("link").getAttribute("href")).toBe("https://example.com/a");
  });
  it("is rendered however long its lists, tables and code are", () => {
    const list = "- **bold** [a link](https://example.com) and `code`\n".repeat(500);
    const rows = "| a | `b` | *c* |\n".repeat(500);
    const text = `# Long\n\n${list}\n| a | b | c |\n|---|---|---|\n${rows}\n\`\`\`\n${"[*_".repeat(9_000)}\n\`\`\`\n`;
    expect(isEasyMarkdown(text)).toBe(true);
    expect(isEasyMarkdown(`${"> ".repeat(30)}deep`)).toBe(false);
    expect(isEasyMarkdown("A word, a **bold** one. ".repeat(300))).toBe(true);
  });
  it("has tables and task lists", () => {
    const drawn = shown("| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done\n- [ ] open");
    expect(drawn.querySelectorAll("th")).toHaveLength(2);
    expect([...drawn.querySelectorAll("td")].map((cell) => cell.textContent)).toEqual(["1", "2"]);
    const boxes = screen.getAllByRole("checkbox") as HTMLInputElement[];
    expect(boxes.map((box) => [box.checked, box.disabled])).toEqual([
      [true, true],
      [false, true],
    ]);
  });
  it("shows HTML as text, loads no picture, and follows no link but to the web", () => {
    const drawn = shown(
      [
        "<img src=x onerror=alert(1)> <b>bold</b>",
        "",
        "<script>alert(1)</script>",
        "",
        "![a cat](https://example.com/cat.png) [run](javascript:alert(1)) [file](file:///etc/passwd)",
        "",
        "[data](data:text/html,x) <https://example.com/auto> [rel](/settings)",
      ].join("\n"),
    );
    expect(drawn.querySelector("img, script, b, iframe")).toBeNull();
    expect(drawn.textContent).toContain("<script>alert(1)</script>");
    const links = [...drawn.querySelectorAll("a")].map((link) => link.getAttribute("href"));
    expect(links).toEqual(["https://example.com/cat.png", "https://example.com/auto"]);
    expect([...drawn.querySelectorAll("a")].every((link) => link.rel.includes("noopener"))).toBe(
      true,
    );
  });
  it("shows characters that cannot be seen, in text, code and links", () => {
    const drawn = shown(
      "a\u202eb `c\u200bd` [e\u200bf](https://example.com)\n\n```\ng\u200bh\n```",
    );
    expect(drawn.textContent).toContain("a⟦U+202E⟧b");
    expect(drawn.textContent).toContain("c⟦U+200B⟧d");
    expect(drawn.textContent).toContain("e⟦U+200B⟧f");
    expect(drawn.textContent).toContain("g⟦U+200B⟧h");
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
