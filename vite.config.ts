import { join } from "node:path";
import { defineConfig } from "vite";

/** The web UI: `npm run build` puts it where the hub serves it from (ADR 0015). */
export default defineConfig({
  root: join(import.meta.dirname, "src", "web"),
  publicDir: false,
  // Plain text, so that the hub can count on what it serves being ours alone.
  html: { cspNonce: "__NONCE__" },
  build: {
    outDir: join(import.meta.dirname, "dist", "web"),
    emptyOutDir: true,
    target: "es2024",
    modulePreload: { polyfill: false },
    // Nothing is put into the page as a data: URL or inline script: the policy forbids it.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 800,
  },
});
