// Builds the page that the wheel carries. The server replaces __CSP_NONCE__ in index.html with a
// fresh nonce for each response; nothing else in the output changes between responses.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import type { Plugin, Rolldown } from "vite";
import { defineConfig } from "vitest/config";

const backend = process.env.MCPLENS_BACKEND ?? "http://127.0.0.1:6280";

/** Lets the browser fetch the Tools screen beside the entry, since that is where most people go. */
const preloadTools: Plugin = {
  name: "preload-tools",
  transformIndexHtml: {
    order: "post",
    handler(html, { bundle = {} }) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const tools = chunks.find((chunk) => chunk.facadeModuleId?.endsWith("/tools/Tools.tsx"));
      const needed = new Set<string>();
      const need = (fileName: string): void => {
        if (needed.has(fileName)) return;
        needed.add(fileName);
        for (const one of chunks.find((chunk) => chunk.fileName === fileName)?.imports ?? [])
          need(one);
      };
      if (tools) need(tools.fileName);
      return [...needed]
        .map((fileName) => `/${fileName}`)
        .filter((href) => !html.includes(`"${href}"`))
        .map((href) => ({
          tag: "link",
          attrs: { rel: "modulepreload", crossorigin: true, href },
          injectTo: "head" as const,
        }));
    },
  },
};

// Each file of a page costs a request, and a millisecond and more: what the frame needs is one file,
// and of what several screens share, small parts join the one that most of the same screens need.
const CHUNKS: Rolldown.CodeSplittingGroup[] = [
  { name: "frame", tags: ["$initial"], priority: 1 },
  { name: "shared", minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 150_000 },
];

const here = fileURLToPath(new URL(".", import.meta.url));
const replacesModules = /\bvi\.(mock|doMock|resetModules)\(/;
// Replaced in the same way by all files that do so: src/testing/mockedModules.ts.
const MOCKED = /^vi\.mock\("[./]+\/(components\/CodeEditor|(state\/)?commands)"\);$/gm;
const needsBrowser = /^\/\/ @vitest-environment happy-dom$/m;
const tests = {
  logic: [] as string[],
  sharing: [] as string[],
  mocking: [] as string[],
  replacingModules: [] as string[],
};
for (const name of readdirSync(join(here, "src"), { recursive: true, encoding: "utf8" })) {
  if (!/\.test\.tsx?$/.test(name)) continue;
  const file = join("src", name);
  const text = readFileSync(join(here, file), "utf8");
  if (replacesModules.test(text.replace(MOCKED, ""))) tests.replacingModules.push(file);
  else if (replacesModules.test(text)) tests.mocking.push(file);
  else if (file.endsWith(".ts") && !needsBrowser.test(text)) tests.logic.push(file);
  else tests.sharing.push(file);
}

// `--mode look` builds the page of all tokens and components instead, for its test.
export default defineConfig(({ mode }) => ({
  plugins: [react(), ...(mode === "look" ? [] : [preloadTools])],
  resolve: {
    alias: {
      "@rjsf/validator-ajv8": fileURLToPath(new URL("src/forms/ajvStub.ts", import.meta.url)),
    },
  },
  html: { cspNonce: "__CSP_NONCE__" },
  build: {
    outDir: "dist",
    target: "es2022",
    // The CSP allows no data: for scripts and fonts, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      ...(mode === "look" && { input: "look.html" }),
      output: {
        codeSplitting: { groups: CHUNKS },
        // The names of shared files list all screens that share them.
        chunkFileNames: ({ name }) => `assets/${name.split("~")[0]}-[hash].js`,
        assetFileNames: ({ names: [name = "asset"] }) =>
          `assets/${name.replace(/~.*\./, ".").replace(/\.[^.]*$/, "")}-[hash][extname]`,
      },
    },
  },
  server: {
    proxy: {
      // The backend serves its own origin alone.
      "/api": { target: backend, ws: true, changeOrigin: true, headers: { origin: backend } },
      "/k": { target: backend, ws: true, changeOrigin: true, headers: { origin: backend } },
      "/docs": { target: backend, changeOrigin: true },
    },
  },
  test: {
    environment: "happy-dom",
    // Bounds a test that hangs; a busy machine is no failure.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    server: { deps: { inline: [/@rjsf\//] } },
    // It would leave a core to an editor.
    maxWorkers: "100%",
    // Loading the modules of the page costs more than most tests: files share them, except those
    // that put other modules in their place. Logic needs no browser, which is made for each file.
    projects: [
      {
        extends: true,
        test: { name: "logic", environment: "node", isolate: false, include: tests.logic },
      },
      {
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          include: tests.sharing,
          setupFiles: ["src/testing/setup.ts", "src/testing/sharedState.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "mocking",
          isolate: false,
          include: tests.mocking,
          setupFiles: [
            "src/testing/mockedModules.ts",
            "src/testing/setup.ts",
            "src/testing/sharedState.ts",
          ],
        },
      },
      {
        extends: true,
        test: {
          name: "alone",
          include: tests.replacingModules,
          setupFiles: ["src/testing/setup.ts"],
        },
      },
    ],
  },
}));
