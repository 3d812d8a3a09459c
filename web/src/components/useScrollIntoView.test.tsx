import { render } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { useScrollIntoView } from "./useScrollIntoView";

function Shown({ call, isNamed }: { call: string | undefined; isNamed: boolean }) {
  return <div ref={useScrollIntoView(call, isNamed)} />;
}

it("scrolls to what is shown next, and to the first where the address names it", () => {
  const scrolled = vi.fn();
  vi.spyOn(HTMLElement.prototype, "scrollIntoView").mockImplementation(scrolled);
  const { rerender } = render(<Shown call="c1" isNamed={false} />);
  expect(scrolled).not.toHaveBeenCalled();
  rerender(<Shown call="c2" isNamed={false} />);
  expect(scrolled).toHaveBeenCalledTimes(1);
  rerender(<Shown call="c2" isNamed />);
  expect(scrolled).toHaveBeenCalledTimes(1);
  render(<Shown call="c1" isNamed />);
  expect(scrolled).toHaveBeenCalledTimes(2);
});
