// Builds the page that the wheel carries. The server replaces __CSP_NONCE__ in index.html with a
// fresh nonce for each response; nothing else in the output changes between responses.
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const backend = process.env.MCPLENS_BACKEND ?? "http://127.0.0.1:6280";

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: {
      "@rjsf/validator-ajv8": fileURLToPath(new URL("src/forms/noAjv.ts", import.meta.url)),
    },
  },
  html: { cspNonce: "__CSP_NONCE__" },
  build: {
    outDir: "dist",
    target: "es2022",
    // The CSP allows no data: for scripts and fonts, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: {
      // The backend serves its own origin alone.
      "/api": { target: backend, ws: true, changeOrigin: true, headers: { origin: backend } },
      "/docs": { target: backend, changeOrigin: true },
    },
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/testing/setup.ts"],
    server: { deps: { inline: [/@rjsf\//] } },
  },
});
