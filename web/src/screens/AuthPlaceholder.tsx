import { EmptyState } from "../components/EmptyState";

/** Placeholder for the sign-in screen. */
export function AuthPlaceholder() {
  return (
    <EmptyState icon="auth" title="Sign-in is not available yet">
      This screen will show the OAuth flow step by step. Until then, give a server its token as a
      header: Servers, Edit, Headers.
    </EmptyState>
  );
}
