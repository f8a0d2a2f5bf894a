import { dirname, join } from "node:path";
import { defineConfig, type Plugin } from "vite";

/** The program in few files, to start quickly (`bin/program.mjs`). Threads, scripts and pages are read from `src`. */
export default defineConfig({
  plugins: [placesOfSources()],
  build: {
    ssr: join(import.meta.dirname, "src", "cli", "main.ts"),
    target: "node24",
    // Names of classes and functions stand in what is logged.
    minify: false,
    reportCompressedSize: false,
    rolldownOptions: { output: { chunkFileNames: "[name]-[hash].js" } },
  },
  // Packages stay where they are, but for the one that is a hundred files.
  ssr: { noExternal: ["zod"] },
});

/** What lies beside a source is found from the built file too. */
function placesOfSources(): Plugin {
  const root = import.meta.dirname;
  return {
    name: "places-of-sources",
    enforce: "pre",
    transform(code, id) {
      if (!id.startsWith(join(root, "src"))) return undefined;
      const path = `../../..${id.slice(root.length)}`;
      const places = new Map([
        ["url", `new URL("${path}", import.meta.url).href`],
        ["dirname", `import.meta.dirname + "/${dirname(path)}"`],
      ]);
      return code.replaceAll(/import\.meta\.(\w+)/g, (text, what: string) => {
        return places.get(what) ?? this.error(`${text} would be another in the built program`);
      });
    },
  };
}
