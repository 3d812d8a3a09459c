// Signing in: the token in the address's fragment is exchanged for a cookie, then taken out of
// the address, so that it is in no history entry, screenshot or copied link. Until then it stays
// there: whoever reloads the page meanwhile signs in again.
import { address, keepFolder } from "./folder";
import { keepKey, post } from "./returning";

/** "taken": somebody answers, but not mcplens. "unknown": nobody does. */
type SignedIn = "yes" | "no" | "taken" | "unknown";

/** The token that the fragment carries, if it does. */
export function tokenOf(fragment: string): string | null {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("token");
}

function dropToken(): void {
  if (tokenOf(location.hash))
    history.replaceState(history.state, "", location.pathname + location.search);
}

/** Out of the address, and out of an entry of the history that was left before, on the way back. */
function forgetToken(): void {
  dropToken();
  addEventListener("popstate", dropToken);
}

export async function signIn(): Promise<void> {
  const token = tokenOf(location.hash);
  if (!token) return;
  try {
    const response = await post("/api/session", { token });
    if (!response.ok) return forgetToken();
    const { return_key, folder }: { return_key: string | null; folder: string } =
      await response.json();
    keepFolder(folder);
    forgetToken();
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
