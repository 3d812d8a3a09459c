// Copying and saving text, and JSON as text.
import { notifications } from "@mantine/notifications";

export async function copy(text: string, what = "Copied"): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notifications.show({ message: what, color: "lens", autoClose: 1500 });
  } catch {
    notifications.show({ message: "The browser did not allow copying.", color: "red" });
  }
}

export function save(content: BlobPart, name: string, type = "application/octet-stream"): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2) ?? "";

export type Parsed = { ok: true; value: unknown } | { ok: false; problem: string };

export function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (thrown) {
    return { ok: false, problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

export const bytesOfBase64 = (text: string): Uint8Array<ArrayBuffer> | null => {
  try {
    const binary = atob(text);
    const result = new Uint8Array(binary.length);
    for (let index = 0; index < binary.length; index += 1) result[index] = binary.charCodeAt(index);
    return result;
  } catch {
    return null;
  }
};
