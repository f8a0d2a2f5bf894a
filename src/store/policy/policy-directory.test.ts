import { chmod, chown, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { policyFilesContract } from "../policy-files.contract.ts";
import { PolicyDirectory } from "./policy-directory.ts";

const EVERY_MS = 10;

async function open({ isNamed = false } = {}) {
  const dataDir = await temporaryDirectory();
  const places = { file: join(dataDir, "policy.yaml"), isNamed, directory: join(dataDir, "policies") };
  const pathOf = (workspaceId?: string) =>
    workspaceId === undefined ? places.file : join(places.directory, `${workspaceId}.yaml`);
  const write = async (text: string, workspaceId?: string): Promise<void> => {
    const path = pathOf(workspaceId);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, text, { mode: 0o600 });
  };
  return {
    ...places,
    dataDir,
    files: new PolicyDirectory(places, EVERY_MS),
    write,
    remove: (workspaceId?: string) => rm(pathOf(workspaceId)),
  };
}

policyFilesContract(open);

const problemsOf = async ({ files }: { files: PolicyDirectory }) => (await files.read()).flatMap((it) => it.problems);

test("[POL-10] a file that was named has to be there", async () => {
  const named = await open({ isNamed: true });

  expect(await problemsOf(named)).toEqual([
    {
      file: named.file,
      message: "The file can't be read (ENOENT)",
      remedy: "See that it is there and that it may be read.",
    },
  ]);
});

test("[POL-15] what others could change is refused, with what to do", async () => {
  const place = await open();
  await place.write("rules: []");
  await chmod(place.file, 0o620);
  const writable = await problemsOf(place);
  await chmod(place.file, 0o644);
  await chmod(place.dataDir, 0o777);
  const replaceable = await problemsOf(place);
  await chmod(place.dataDir, 0o755);

  expect(writable).toEqual([
    { file: place.file, message: "The file can be written by others", remedy: `chmod go-w ${place.file}` },
  ]);
  expect(replaceable).toEqual([
    {
      file: place.file,
      message: `The file lies in ${place.dataDir}, where others may put another file in its place`,
      remedy: `chmod go-w ${place.dataDir}`,
    },
  ]);
  expect(await problemsOf(place)).toEqual([]);
});

test.skipIf(process.geteuid?.() !== 0)("[POL-15] a file of somebody else is refused (needs root)", async () => {
  const place = await open();
  await place.write("rules: []");
  await chown(place.file, 65_534, 65_534);

  expect(await problemsOf(place)).toEqual([
    { file: place.file, message: "The file belongs to somebody else", remedy: `chown 0 ${place.file}` },
  ]);
});

test("[POL-15] a link is refused: where it leads no guard hides", async () => {
  const place = await open();
  await place.write("rules: []");
  await rename(place.file, join(place.dataDir, "elsewhere.yaml"));
  await symlink("elsewhere.yaml", place.file);

  expect(await problemsOf(place)).toMatchObject([{ message: "The file is a link, and no guard hides where it leads" }]);
});

test.each([
  { wrong: "more than 256 KiB", content: Buffer.alloc(256 * 1024 + 1, "#") },
  { wrong: "what isn't UTF-8", content: Buffer.from([0x23, 0xff]) },
])("[POL-13] $wrong is refused", async ({ content }) => {
  const place = await open();
  await writeFile(place.file, content, { mode: 0o600 });

  expect(await problemsOf(place)).toMatchObject([
    { file: place.file, message: "The file is larger than 256 KiB or isn't UTF-8 text" },
  ]);
});

test("[POL-11] a file that names no workspace is told; what editors leave behind is not", async () => {
  const place = await open();
  await place.write("rules: []", "web");
  for (const name of [".web.yaml.swp", "web.yaml~", "#web.yaml#", "notes.txt"]) {
    await writeFile(join(place.directory, name), "x");
  }
  const before = await problemsOf(place);
  await place.write("rules: []", "Not A Workspace");

  expect(before).toEqual([]);
  expect(await problemsOf(place)).toMatchObject([{ message: "The file names no workspace" }]);
});

test("[POL-14] one put in its place by a rename is seen, and nothing is told of what stands beside it", async () => {
  const place = await open();
  await place.write("rules: []");
  await place.files.read();
  let told = 0;
  const watching = place.files.watch(() => (told += 1));
  onTestFinished(() => watching[Symbol.dispose]());
  const looked = async (): Promise<void> => {
    const another = await open();
    await another.files.read();
    const seen = Promise.withResolvers<void>();
    using _ = another.files.watch(() => seen.resolve());
    await another.write("rules: [1]");
    await seen.promise;
  };

  await writeFile(join(place.dataDir, "events.db"), "x");
  await looked();
  const before = told;
  await writeFile(join(place.dataDir, "new"), "rules: [2]", { mode: 0o600 });
  await rename(join(place.dataDir, "new"), place.file);

  await eventually(() => expect(told).toBeGreaterThan(0));
  expect(before).toBe(0);
});
