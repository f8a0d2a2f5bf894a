import { expect, test } from "vitest";
import { createLogger } from "../../lib/logger.ts";
import type { ChannelConfig } from "../ports.ts";
import { People, personOf } from "./people.ts";

const HOUR_MS = 3_600_000;
const eve = { id: "666", name: "Ann" };

function list(config: Partial<ChannelConfig> = {}) {
  const lines: string[] = [];
  let now = 0;
  const channels = [{ name: "telegram", kind: "telegram", token: "t", people: [], ...config }] as const;
  const people = new People(
    () => channels,
    { now: () => now },
    createLogger("info", (line) => lines.push(line)),
  );
  return { people, lines, at: (ms: number) => (now = ms) };
}

test("[CHN-100] somebody is known by the platform's id on that channel, whatever they call themselves", () => {
  const { people } = list({ people: [{ id: "1", name: "Ann", role: "operator" }] });

  expect(people.actor("telegram", { id: "1", name: "Somebody" })).toEqual({ kind: "person", id: "telegram:1" });
  expect([people.actor("telegram", eve), people.actor("slack", { id: "1", name: "Ann" })]).toEqual([
    undefined,
    undefined,
  ]);
  expect([people.nameOf("telegram:1"), people.nameOf("olga")]).toEqual(["Ann", "olga"]);
});

test("[CHN-102] strangers are counted, and logged once an hour each, by their id alone", () => {
  const { people, lines, at } = list();
  for (const ms of [0, 1, HOUR_MS - 1, HOUR_MS]) {
    at(ms);
    people.refuse("telegram", eve);
  }
  people.refuse("telegram", { id: "667", name: "x" });

  expect(people.refused("telegram")).toBe(5);
  expect(lines.map((line) => (JSON.parse(line) as { user: string }).user)).toEqual(["666", "666", "667"]);
  expect(lines.join("")).not.toContain("Ann");
});

test("[CHN-102] what is remembered of strangers is bounded", () => {
  const { people, lines } = list();
  for (let id = 0; id <= 1_000; id += 1) people.refuse("telegram", { id: String(id), name: "x" });
  people.refuse("telegram", { id: "1000", name: "x" });
  people.refuse("telegram", { id: "0", name: "x" });

  expect(lines).toHaveLength(1_002);
});

test.each([
  { name: "Ann\u001b[31m\nB.", shown: "Ann [31m B." },
  { name: "\u202E\u200B", shown: "1" },
  { name: "x".repeat(100), shown: "x".repeat(64) },
])("[CHN-106] a name that a platform's user chose is shown without what could mislead: $shown", ({ name, shown }) => {
  expect(personOf({ id: "1", name })).toEqual({ id: "1", name: shown, role: "operator" });
});
