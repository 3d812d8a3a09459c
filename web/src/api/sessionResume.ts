// Resumes the session with a restarted mcplens: sign-in gives this browser a key, and the page
// proves possession by HMAC. The key is not extractable, so that a program that takes the port
// meanwhile cannot steal it.
import { saveBasePath } from "./basePath";

/** Storage of the key; tests use their own. */
export interface KeyStore {
  load(): Promise<CryptoKey | null>;
  save(key: CryptoKey): Promise<void>;
}

const STORE = "keys";
const NAME = "return";

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function opened(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  const request = indexedDB.open("mcplens", 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return (await done(request)).transaction(STORE, mode).objectStore(STORE);
}

const browserKeys: KeyStore = {
  load: async () => (await done((await opened("readonly")).get(NAME))) ?? null,
  save: async (key) => void (await done((await opened("readwrite")).put(key, NAME))),
};

const bytes = (text: string) => new TextEncoder().encode(text);

const hex = (data: ArrayBuffer): string =>
  Array.from(new Uint8Array(data), (byte) => byte.toString(16).padStart(2, "0")).join("");

export const post = (path: string, body: object): Promise<Response> =>
  fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

/**
 * Stores the key from sign-in. Without SubtleCrypto or storage, a restart requires the token again.
 */
export async function saveResumeKey(
  key: string | null,
  keys: KeyStore = browserKeys,
): Promise<void> {
  if (key === null) return;
  try {
    const how = { name: "HMAC", hash: "SHA-256" };
    await keys.save(await crypto.subtle.importKey("raw", bytes(key), how, false, ["sign"]));
  } catch {
    // Not fatal: the user has to sign in again after a restart.
  }
}

/** Signs in with the key: "no" without a valid key, "unknown" without a response. */
export async function resumeSession(
  keys: KeyStore = browserKeys,
): Promise<"yes" | "no" | "unknown"> {
  const key = await keys.load().catch(() => null);
  if (key === null) return "no";
  try {
    const { nonce }: { nonce: string | null } = await (await post("/api/session/nonce", {})).json();
    if (nonce === null) return "no";
    const text = bytes(`${nonce} ${location.origin}`);
    const proof = hex(await crypto.subtle.sign("HMAC", key, text));
    const response = await post("/api/session/return", { nonce, proof });
    if (!response.ok) return "no";
    saveBasePath((await response.json()).folder);
    return "yes";
  } catch {
    return "unknown";
  }
}
