import { ROLES } from "../../domain/actor.ts";
import type { Token } from "../../protocol/credentials.ts";
import { ageOf } from "../age.ts";
import { defineCommand } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";
import { resolveId, shortener } from "../ids.ts";
import { durationSeconds, oneOf } from "../options.ts";
import { printable } from "../printable.ts";

export const tokenCreate = defineCommand({
  name: "token create",
  summary: "Make a token and print it, this once",
  options: {
    role: { type: "string", value: "ROLE", help: `${ROLES.join(", ")}; what its bearer may do` },
    name: { type: "string", value: "NAME", help: "who will use it; the same name and role is the same actor" },
    expires: { type: "string", value: "TIME", help: "how long it is valid: 12h, 30d, 4w (default: until revoked)" },
  },
  examples: ["sidestick token create --role agent --name claude --expires 30d > claude.token"],
  run: async ({ client, values, terminal }) => {
    if (values.role === undefined || values.name === undefined) throw new UsageError("--role and --name are needed.");
    const role = oneOf(values.role, ROLES, "--role");
    const { name, expires } = values;
    const expiresInSeconds = expires === undefined ? undefined : durationSeconds(expires, "--expires");
    const created = await client.token.create({ role, name, expiresInSeconds });
    if (values.json === true) terminal.printJson(created);
    else terminal.print(printable(created.token));
    return EXIT.ok;
  },
});

export const tokenList = defineCommand({
  name: "token list",
  summary: "List tokens and web logins, without their secrets",
  examples: ["sidestick token list"],
  run: async ({ client, values, terminal }) => {
    const tokens = await client.token.list();
    if (values.json === true) terminal.printJson(tokens);
    else if (tokens.length === 0) terminal.note("No tokens. Make one: sidestick token create --role agent --name NAME");
    else terminal.printTable(columns(shortener(tokens.map((it) => it.tokenId))), tokens);
    return EXIT.ok;
  },
});

export const tokenRevoke = defineCommand({
  name: "token revoke",
  summary: "Make a token useless at once",
  takes: ["<id>"],
  examples: ["sidestick token revoke 3f2a9c01"],
  run: async ({ client, values, given: [id = ""], terminal }) => {
    const tokens = await client.token.list();
    const tokenId = await resolveId(id, "token", async () => tokens.map((it) => it.tokenId));
    const since = tokens.find((it) => it.tokenId === tokenId)?.revokedAt;
    // Asked of the hub even then: it makes sure that the revocation is on its disk.
    const revoked = await client.token.revoke({ tokenId });
    const who = `${revoked.name} (${revoked.role})`;
    const told = since === undefined ? `Revoked ${who}.` : `${who} was already revoked, at ${since}.`;
    if (values.json === true) terminal.printJson(revoked);
    else terminal.note(printable(told));
    return EXIT.ok;
  },
});

function columns(short: (id: string) => string) {
  return [
    { title: "ID", value: (it: Token) => short(it.tokenId) },
    { title: "ROLE", value: (it: Token) => it.role },
    { title: "NAME", value: (it: Token) => it.name, shrinks: true },
    { title: "KIND", value: (it: Token) => it.kind },
    { title: "AGE", value: (it: Token) => ageOf(it.createdAt) },
    { title: "STATE", value: stateOf, shrinks: true },
  ];
}

function stateOf({ revokedAt, expiresAt }: Token): string {
  if (revokedAt !== undefined) return "revoked";
  if (expiresAt === undefined) return "valid";
  return Date.parse(expiresAt) <= Date.now() ? "expired" : `until ${expiresAt.slice(0, 16)}Z`;
}
