// A file as base64, for a text that holds bytes.

/** More makes the page slow, since the arguments are one text. */
export const MOST_FILE_BYTES = 10_000_000;

export const base64Of = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    // What stands before the comma is the type: data:image/png;base64,
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,?/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });

/** How many bytes a base64 text stands for. */
export const bytesIn = (text: string): number =>
  Math.floor((text.replace(/=+$/, "").length * 3) / 4);
