// Signing in: the token in the address's fragment is exchanged for a cookie, then taken out of
// the address, so that it is in no history entry, screenshot or copied link.

export type SignedIn = "yes" | "no" | "unknown";

/** The token that the fragment carries, if it does. */
export function tokenOf(fragment: string): string | null {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("token");
}

export async function signIn(): Promise<void> {
  const token = tokenOf(location.hash);
  if (!token) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  try {
    await fetch("/api/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
  } catch {
    // The socket finds out, and says so.
  }
}

export async function signedIn(): Promise<SignedIn> {
  try {
    const response = await fetch("/api/session");
    if (response.ok) return "yes";
    return response.status === 401 || response.status === 403 ? "no" : "unknown";
  } catch {
    return "unknown";
  }
}
