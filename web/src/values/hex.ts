// Bytes as the lines of a hex view.

/** A line, with as many bytes as a line of this view has. */
export function hexLine(
  data: Uint8Array,
  line: number,
  width: number,
): { offset: string; hex: string; text: string } {
  const start = line * width;
  const part = data.subarray(start, start + width);
  const hex = [...part].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const text = [...part]
    .map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·"))
    .join("");
  return { offset: start.toString(16).padStart(8, "0"), hex: hex.padEnd(width * 3 - 1), text };
}

export const hexLines = (data: Uint8Array, width: number): number => Math.ceil(data.length / width);
