// Downloads: the browser saves what a link with `download` leads to.
import { fileName } from "../values/fileName";
import { bytesOfBase64 } from "../values/json";
import type { RecognisedBytes } from "../values/recognised";

/** Save what an address gives; without a name, under the one that the response has. */
export function downloadUrl(url: string, name = ""): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

export function downloadFile(
  content: BlobPart,
  name: string,
  type = "application/octet-stream",
): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  downloadUrl(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Save the bytes that a text in base64 stands for. */
export function downloadBase64(
  text: string,
  name: string,
  { mime, ending }: RecognisedBytes,
): void {
  const bytes = bytesOfBase64(text);
  if (bytes) downloadFile(bytes, fileName([name], ending), mime);
}
