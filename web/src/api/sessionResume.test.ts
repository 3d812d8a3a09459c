// @vitest-environment happy-dom
import { createHmac } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { withBasePath } from "./basePath";
import { type KeyStore, resumeSession, saveResumeKey } from "./sessionResume";

function memory(): KeyStore & { key: CryptoKey | null } {
  return {
    key: null,
    async load() {
      return this.key;
    },
    async save(key) {
      this.key = key;
    },
  };
}

/** A backend that asks for a proof of `key`. */
function backend(key: string) {
  const sent: string[] = [];
  const answer = async (path: string, init: RequestInit): Promise<Response> => {
    sent.push(String(init.body));
    if (path === "/api/session/nonce") return Response.json({ nonce: "once" });
    const { nonce, proof } = JSON.parse(String(init.body));
    const wanted = createHmac("sha256", key).update(`${nonce} ${location.origin}`).digest("hex");
    if (proof !== wanted) return new Response(null, { status: 401 });
    return Response.json({ folder: "/k/new" });
  };
  vi.stubGlobal("fetch", vi.fn(answer));
  return sent;
}

afterEach(() => vi.unstubAllGlobals());

describe("comeBack", () => {
  it("proves that it has the key, without sending it", async () => {
    const keys = memory();
    await saveResumeKey("secret", keys);
    const sent = backend("secret");
    expect(await resumeSession(keys)).toBe("yes");
    expect(sent.join()).not.toContain("secret");
    expect(withBasePath("/api/socket")).toBe("/k/new/api/socket");
  });
  it("keeps a key that no script can read", async () => {
    const keys = memory();
    await saveResumeKey("secret", keys);
    expect(keys.key?.extractable).toBe(false);
  });
  it("is not let in by another key, or by none", async () => {
    const keys = memory();
    backend("secret");
    expect(await resumeSession(keys)).toBe("no");
    await saveResumeKey("other", keys);
    expect(await resumeSession(keys)).toBe("no");
  });
  it("does not know when nobody answers", async () => {
    const keys = memory();
    await saveResumeKey("secret", keys);
    vi.stubGlobal("fetch", vi.fn().mockRejectedValue(new TypeError("gone")));
    expect(await resumeSession(keys)).toBe("unknown");
  });
  it("goes without where the browser has no subtle crypto", async () => {
    vi.stubGlobal("crypto", {});
    const keys = memory();
    await saveResumeKey("secret", keys);
    expect(keys.key).toBeNull();
  });
});
