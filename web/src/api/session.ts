// Signing in: the token in the address's fragment is exchanged for a cookie, then taken out of
// the address, so that it is in no history entry, screenshot or copied link. Until then it stays
// there: whoever reloads the page meanwhile signs in again.
import { saveBasePath, withBasePath } from "./basePath";
import { post, saveResumeKey } from "./sessionResume";

/** "taken": somebody answers, but not mcplens. "unknown": nobody does. */
type SessionState = "yes" | "no" | "taken" | "unknown";

/** The token that the fragment carries, if it does. */
export function tokenOf(fragment: string): string | null {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("token");
}

function removeToken(): void {
  if (tokenOf(location.hash))
    history.replaceState(history.state, "", location.pathname + location.search);
}

/** Out of the address, and out of an entry of the history that was left before, on the way back. */
function keepTokenOut(): void {
  removeToken();
  addEventListener("popstate", removeToken);
}

export async function signIn(): Promise<void> {
  const token = tokenOf(location.hash);
  if (!token) return;
  try {
    const response = await post("/api/session", { token });
    if (!response.ok) return keepTokenOut();
    const { return_key, folder }: { return_key: string | null; folder: string } =
      await response.json();
    saveBasePath(folder);
    keepTokenOut();
    await saveResumeKey(return_key);
  } catch {
    // The socket finds out, and says so.
  }
}

export async function checkSession(): Promise<SessionState> {
  try {
    const response = await fetch(withBasePath("/api/session"));
    if (!response.headers.has("Mcplens")) return "taken";
    if (response.ok) return "yes";
    return response.status === 401 ? "no" : "unknown";
  } catch {
    return "unknown";
  }
}
