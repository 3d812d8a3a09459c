// Form fields that can take the focus.
const FIELDS =
  'input:not([type="hidden"]), textarea, select, [contenteditable="true"], [role="textbox"]';

export const isVisible = (element: Element): boolean => element.checkVisibility?.() ?? true;

const isFree = (field: HTMLElement): boolean => !field.matches(":disabled") && isVisible(field);

/** The enabled, visible fields within an element, in order. */
export const focusableFields = (within: Element | null | undefined): HTMLElement[] =>
  [...(within?.querySelectorAll<HTMLElement>(FIELDS) ?? [])].filter(isFree);
