// Signing in: the token in the address's fragment is exchanged for a cookie, then taken out of
// the address, so that it is in no history entry, screenshot or copied link.
import { address, keepFolder } from "./folder";
import { keepKey, post } from "./returning";

/** "taken": somebody answers, but not mcplens. "unknown": nobody does. */
type SignedIn = "yes" | "no" | "taken" | "unknown";

/** The token that the fragment carries, if it does. */
export function tokenOf(fragment: string): string | null {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("token");
}

export async function signIn(): Promise<void> {
  const token = tokenOf(location.hash);
  if (!token) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  try {
    const response = await post("/api/session", { token });
    if (!response.ok) return;
    const { return_key, folder }: { return_key: string | null; folder: string } =
      await response.json();
    keepFolder(folder);
    await keepKey(return_key);
  } catch {
    // The socket finds out, and says so.
  }
}

export async function signedIn(): Promise<SignedIn> {
  try {
    const response = await fetch(address("/api/session"));
    if (!response.headers.has("Mcplens")) return "taken";
    if (response.ok) return "yes";
    return response.status === 401 ? "no" : "unknown";
  } catch {
    return "unknown";
  }
}
