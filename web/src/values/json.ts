// JSON and bytes as text.

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
