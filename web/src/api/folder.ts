// The folder of this run: the session's cookie is for it alone, so that no program on another port
// of this machine is ever sent it. Sign-in tells it, and all tabs of this origin know it.

const NAME = "mcplens.folder";
/** For a browser that keeps nothing. */
let told = "";

export function keepFolder(folder: string): void {
  told = folder;
  try {
    localStorage.setItem(NAME, folder);
  } catch {
    // Another tab has to sign in for itself.
  }
}

function kept(): string {
  try {
    return localStorage.getItem(NAME) ?? told;
  } catch {
    return told;
  }
}

/** Whoever had this port before could have left anything there. */
function folder(): string {
  const found = kept();
  return /^\/k\/[\w-]+$/.test(found) ? found : "";
}

/** The address of what needs the cookie: all of /api but signing in and coming back. */
export const address = (path: string): string => folder() + path;
