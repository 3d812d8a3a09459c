// Bytes as the lines of a hex view.

const WIDTH = 16;

export function hexLine(
  data: Uint8Array,
  line: number,
): { offset: string; hex: string; text: string } {
  const start = line * WIDTH;
  const part = data.subarray(start, start + WIDTH);
  const hex = [...part].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const text = [...part]
    .map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·"))
    .join("");
  return { offset: start.toString(16).padStart(8, "0"), hex: hex.padEnd(WIDTH * 3 - 1), text };
}

export const hexLines = (data: Uint8Array): number => Math.ceil(data.length / WIDTH);
