import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import type { ChannelConfig } from "../../hub/ports.ts";
import { ChannelsFile } from "./channels-file.ts";

const CHANNEL: ChannelConfig = {
  name: "slack",
  kind: "slack",
  token: "xoxb-1",
  appToken: "xapp-1",
  apiRoot: "http://127.0.0.1:1",
  people: [{ id: "U1", name: "Ann", role: "operator" }],
  home: "C1",
};

async function place(): Promise<string> {
  return join(await temporaryDirectory(), "channels.json");
}

test("[CHN-133] what is written is read again, all of it, by the owner alone", async () => {
  const path = await place();
  const file = new ChannelsFile(path);
  const before = await file.read();
  await writeFile(`${path}.new`, "left by a crash", { mode: 0o644 });
  await file.write([CHANNEL]);

  expect(before).toEqual({ ok: true, channels: [] });
  expect(await new ChannelsFile(path).read()).toEqual({ ok: true, channels: [CHANNEL] });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(join(path, ".."))).toEqual(["channels.json"]);
});

test("[CHN-130] what somebody put in the way isn't written through, and what others could read is closed", async () => {
  const path = await place();
  const trap = `${path}.trap`;
  await writeFile(trap, "");
  await symlink(trap, `${path}.new`);
  await new ChannelsFile(path).write([CHANNEL]);
  await chmod(path, 0o644);
  await new ChannelsFile(path).read();

  expect(await readFile(trap, "utf8")).toBe("");
  expect((await lstat(path)).mode & 0o777).toBe(0o600);
  expect((await lstat(path)).isFile()).toBe(true);
});

test.each([
  { wrong: "not JSON", text: '{"channels":[{"token":"hunter2' },
  { wrong: "of another shape", text: '{"channels":[{"name":"telegram","kind":"fax","token":"hunter2","people":[]}]}' },
  { wrong: "with more than is known", text: '{"channels":[],"token":"hunter2"}' },
])("[CHN-134] a file that is $wrong is a problem, told without what is in it", async ({ text }) => {
  const path = await place();
  await writeFile(path, text);

  expect(await new ChannelsFile(path).read()).toEqual({
    ok: false,
    problem: `${path} isn't what this version writes.`,
  });
});

test("[CHN-134] one that can't be read is a problem too", async () => {
  const path = await place();
  await mkdir(path);
  await chmod(path, 0o700);

  expect(await new ChannelsFile(path).read()).toEqual({ ok: false, problem: `${path} can't be read (EISDIR).` });
});
