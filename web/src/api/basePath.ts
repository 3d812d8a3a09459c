// The path of this run's session cookie. Browsers send a cookie to every port of a host, so the path
// keeps it from programs on other ports. Sign-in returns the path; all tabs of this origin share it.

const NAME = "mcplens.folder";
/** Used where localStorage is not available. */
let inMemory = "";

export function saveBasePath(basePath: string): void {
  inMemory = basePath;
  try {
    localStorage.setItem(NAME, basePath);
  } catch {
    // Other tabs have to sign in themselves.
  }
}

function readSaved(): string {
  try {
    return localStorage.getItem(NAME) ?? inMemory;
  } catch {
    return inMemory;
  }
}

/** Validated: a program that used this port before may have stored anything. */
function currentBasePath(): string {
  const found = readSaved();
  return /^\/k\/[\w-]+$/.test(found) ? found : "";
}

/** The URL path of an endpoint that needs the cookie: all of /api except signing in and resuming. */
export const withBasePath = (path: string): string => currentBasePath() + path;
