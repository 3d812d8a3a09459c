// Sign-in: the token in the URL fragment is exchanged for a cookie and then removed from the URL,
// so that it is not in the history, a screenshot or a copied link. Until then it stays there, so
// that a reload signs in again.
import { saveBasePath, withBasePath } from "./basePath";
import { post, saveResumeKey } from "./sessionResume";

/** "taken": another program responds. "unknown": no response. */
type SessionState = "yes" | "no" | "taken" | "unknown";

/** The token that the fragment carries, if it does. */
export function tokenOf(fragment: string): string | null {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("token");
}

function removeToken(): void {
  if (tokenOf(location.hash))
    history.replaceState(history.state, "", location.pathname + location.search);
}

/** Removes the token from the URL now, and from an earlier history entry on the way back. */
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
    // The socket will report the problem.
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
