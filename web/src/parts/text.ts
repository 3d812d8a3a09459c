// Copying and saving text.
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
