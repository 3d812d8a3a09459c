// The nonce of this page's CSP, for the parts that make <style> elements at run time:
// Mantine, CodeMirror and the scroll lock of dialogs. Vite's own tags carry it already.
import { setNonce } from "get-nonce";

// Browsers hide the attribute from scripts; the property still tells it.
export const nonce: string =
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";

/** Must run before the first dialog is drawn. */
export function lendNonce(): void {
  if (nonce) setNonce(nonce);
}
