// Where a person can type or choose.
const FIELDS =
  'input:not([type="hidden"]), textarea, select, [contenteditable="true"], [role="textbox"]';

export const isVisible = (element: Element): boolean => element.checkVisibility?.() ?? true;

const isFree = (field: HTMLElement): boolean => !field.matches(":disabled") && isVisible(field);

/** The fields within an element that can be filled in, in order. */
export const focusableFields = (within: Element | null | undefined): HTMLElement[] =>
  [...(within?.querySelectorAll<HTMLElement>(FIELDS) ?? [])].filter(isFree);
