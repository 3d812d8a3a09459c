// @vitest-environment happy-dom
import { expect, it, vi } from "vitest";
import { saveBasePath, withBasePath } from "./basePath";

it("is known to every tab of the origin, and replaced by that of another run", () => {
  saveBasePath("/k/first");
  expect(withBasePath("/api/socket")).toBe("/k/first/api/socket");
  localStorage.setItem("mcplens.folder", "/k/by-another_tab");
  expect(withBasePath("/api/socket")).toBe("/k/by-another_tab/api/socket");
});

it("leads nowhere else, whatever was left there", () => {
  for (const left of ["//evil.example", "/k/../x", "/k/a/b", "https://evil.example/k/a", ""]) {
    localStorage.setItem("mcplens.folder", left);
    expect(withBasePath("/api/history")).toBe("/api/history");
  }
});

it("lasts for this page where the browser keeps nothing", () => {
  const refuse = () => {
    throw new DOMException("not here");
  };
  vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse });
  saveBasePath("/k/here");
  expect(withBasePath("/api/history")).toBe("/k/here/api/history");
  vi.unstubAllGlobals();
});
