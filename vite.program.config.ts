import { dirname, join } from "node:path";
import { defineConfig, type Plugin } from "vite";

/** The command line; the others are for hubs and hosts that tests compose. */
const ENTRIES = ["cli/main", "main/up", "main/host", "main/host-join", "main/terminals", "protocol/errors"];
const source = (path: string): string => join(import.meta.dirname, "src", path);

/** The program in few files, to start quickly (`bin/program.mjs`). Threads, scripts and pages are read from `src`. */
export default defineConfig({
  plugins: [placesOfSources()],
  build: {
    ssr: true,
    target: "node24",
    // Names of classes and functions stand in what is logged.
    minify: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: Object.fromEntries(ENTRIES.map((name) => [name.replaceAll("/", "-"), source(`${name}.ts`)])),
      // All in one directory: places of sources are told from there.
      output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
    },
  },
  // Packages stay where they are, but for the one that is a hundred files.
  ssr: { noExternal: ["zod"] },
});

/** What lies beside a source is found from the built file too. */
function placesOfSources(): Plugin {
  return {
    name: "places-of-sources",
    enforce: "pre",
    transform(code, id) {
      if (!id.startsWith(source(""))) return undefined;
      const path = `../../..${id.slice(import.meta.dirname.length)}`;
      const places = new Map([
        ["url", `new URL("${path}", import.meta.url).href`],
        ["dirname", `import.meta.dirname + "/${dirname(path)}"`],
      ]);
      return code.replaceAll(/import\.meta\b(?:\.(\w+))?/g, (text, what: string | undefined) => {
        return places.get(what ?? "") ?? this.error(`${text} would be another in the built program`);
      });
    },
  };
}
