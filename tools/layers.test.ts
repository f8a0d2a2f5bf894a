import { expect, test } from "vitest";
import { layerOffences } from "./layers.ts";
import { ROOT } from "./source-files.ts";
import { temporaryTree } from "./temporary-tree.ts";

test("[HSE-1, HSE-2, HSE-3, HSE-4, HSE-6] the source tree keeps to the table", () => {
  expect(layerOffences(ROOT)).toEqual([]);
});

test.each([
  { form: "static", source: `import { desk } from "../hub/desk.ts";` },
  { form: "for its effect", source: `import "../hub/desk.ts";` },
  { form: "type-only", source: `import type { Desk } from "../hub/desk.ts";` },
  { form: "re-export", source: `export { desk } from "../hub/desk.ts";` },
  { form: "re-export of everything", source: `export * from "../hub/desk.ts";` },
  { form: "re-export of types", source: `export type { Desk } from "../hub/desk.ts";` },
  { form: "dynamic", source: `await import("../hub/desk.ts");` },
  { form: "dynamic by template", source: "await import(`../hub/desk.ts`);" },
  { form: "in a type", source: `export type Desk = import("../hub/desk.ts").Desk;` },
  { form: "required", source: `require("../hub/desk.ts");` },
  { form: "made require", source: `createRequire(import.meta.url).resolve("../hub/desk.ts");` },
  { form: "worker", source: `new Worker(new URL("../hub/desk.ts", import.meta.url));` },
  { form: "reference", source: `/// <reference path="../hub/desk.ts" />` },
])("[HSE-1] an import that the table lacks is found: $form", ({ source }) => {
  using tree = temporaryTree({ "src/protocol/wire.ts": `\n${source}\n` });

  expect(layerOffences(tree.root)).toEqual([
    "src/protocol/wire.ts:2 imports ../hub/desk.ts: src/protocol may not import src/hub",
  ]);
});

test.each([
  { path: "src/domain/rule.ts", specifier: "zod", reason: "src/domain may not import the package zod" },
  { path: "src/domain/rule.ts", specifier: "node:fs", reason: "src/domain may not import node:fs" },
  { path: "src/protocol/wire.ts", specifier: "ws", reason: "src/protocol may not import the package ws" },
  { path: "src/client/sdk.ts", specifier: "fs", reason: "src/client may not import node:fs" },
  { path: "src/client/sdk.ts", specifier: "zod", reason: "src/client may not import the package zod" },
  { path: "src/hub/desk.ts", specifier: "node:net", reason: "src/hub may not import node:net" },
  { path: "src/store/log.ts", specifier: "../hub/desk.ts", reason: "src/store may not import src/hub" },
  { path: "src/lib/text.ts", specifier: "../domain/rule.ts", reason: "src/lib may not import src/domain" },
  { path: "src/cli/up.ts", specifier: "../main/hub.ts", reason: "src/cli may import src/main only by import()" },
  { path: "src/server/door.ts", specifier: "file:///x.ts", reason: "src/server may not import the package file:" },
  { path: "src/server/door.ts", specifier: "sidestick", reason: "src/server may not import the package sidestick" },
])("[HSE-1] $path may not import $specifier", ({ path, specifier, reason }) => {
  using tree = temporaryTree({ [path]: `import "${specifier}";\n` });

  expect(layerOffences(tree.root)).toEqual([`${path}:1 imports ${specifier}: ${reason}`]);
});

test("[HSE-1] what the table allows passes", () => {
  using tree = temporaryTree({
    "src/protocol/wire.ts": `import { z } from "zod";\nimport "../domain/rule.ts";\nimport "./other.ts";`,
    "src/store/log.ts": `import type { EventLog } from "../hub/ports.ts";\nimport "node:sqlite";`,
    "src/cli/up.ts": `const { runHub } = await import("../main/hub.ts");\nimport "../../package.json";`,
    "src/main/hub.ts": `import "../store/log.ts";\nimport "../cli/up.ts";`,
  });

  expect(layerOffences(tree.root)).toEqual([]);
});

test("[HSE-1] a folder that the table does not know is refused", () => {
  using tree = temporaryTree({ "src/misc/thing.ts": "", "src/loose.ts": "" });

  expect(layerOffences(tree.root)).toEqual([
    "src/loose.ts:1 is in no folder that tools/layers.ts knows",
    "src/misc/thing.ts:1 is in no folder that tools/layers.ts knows",
  ]);
});

test("[HSE-2] a way around through .. is seen through", () => {
  using tree = temporaryTree({
    "src/domain/deep/rule.ts": `import "../../domain/../hub/desk.ts";\nimport "../../../tools/layers.ts";`,
  });

  expect(layerOffences(tree.root)).toEqual([
    "src/domain/deep/rule.ts:1 imports ../../domain/../hub/desk.ts: src/domain may not import src/hub",
    "src/domain/deep/rule.ts:2 imports ../../../tools/layers.ts: src/domain may not import tools/layers.ts",
  ]);
});

test("[HSE-2] comments and strings are not imports", () => {
  using tree = temporaryTree({
    "src/domain/rule.ts": [
      `// import "../hub/desk.ts";`,
      `/* export * from "../hub/desk.ts"; */`,
      'export const text = `import "../hub/desk.ts"`;',
      `export const other = 'import("../hub/desk.ts")';`,
      `export const pattern = /import "..\\/hub\\/desk.ts"/;`,
    ].join("\n"),
  });

  expect(layerOffences(tree.root)).toEqual([]);
});

test("[HSE-3] a computed import is refused, except in tests", () => {
  const source = "await import(`./${name}.ts`);";
  using tree = temporaryTree({ "src/hub/desk.ts": source, "src/hub/desk.test.ts": source });

  expect(layerOffences(tree.root)).toEqual([
    "src/hub/desk.ts:1 imports `./${name}.ts`: a computed import can't be checked, write it out",
  ]);
});

test("[HSE-4] tests reach further than the code they test", () => {
  const source = `import "vitest";\nimport "../../test/hub.ts";\nimport "../main/hub.ts";\nimport "node:fs";`;
  using tree = temporaryTree({
    "src/domain/rule.test.ts": source,
    "src/domain/rule.contract.ts": source,
    "src/main/wiring.ts": source,
  });

  expect(layerOffences(tree.root)).toEqual([
    "src/main/wiring.ts:1 imports vitest: src/main may not import the package vitest",
    "src/main/wiring.ts:2 imports ../../test/hub.ts: src/main may not import test/hub.ts",
  ]);
});

test("[HSE-6] lib stays small", () => {
  const files = Array.from({ length: 11 }, (_, index) => [`src/lib/helper-${index}.ts`, ""]);
  using tree = temporaryTree({ ...Object.fromEntries(files), "src/lib/helper-1.test.ts": "" });

  expect(layerOffences(tree.root)).toEqual(["src/lib holds 11 files: at most 10"]);
});
