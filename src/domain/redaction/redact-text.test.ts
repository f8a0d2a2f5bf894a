import { expect, test } from "vitest";
import { redactText } from "./redact-text.ts";

const KEY = "Zk3vQ9mX7tLpW2sRbN8cYd5fGh1jKa6uEoV4";
const GITHUB = `ghp_${KEY}`;
const HIDDEN = `ghp_${"*".repeat(36)}`;

test.each([
  "commit 3f786850e387550fdab836ed7e6dc881de23001b",
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  file",
  "MD5 (x) = d41d8cd98f00b204e9800998ecf8427e",
  "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  '"integrity": "sha512-aBcD0123456789+/aBcD0123456789+/aBcD0123456789=="',
  "request 550e8400-e29b-41d4-a716-446655440000 done",
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "eyJuYW1lIjoic2lkZXN0aWNrIiwidmVyc2lvbiI6IjEuMC4wIn0=",
  "task-list disk-usage risk-averse ask-me-anything-you-would-like",
  "sk-learn sk-estimator-doc-link sk-toggleable__label-arrow",
  "npm_config_registry=https://registry.example.org npm_lifecycle_event",
  "weights_abcdefghijklmnopqrstuvwxyz hf_hub_download(repo) pypi-server",
  "AKIA AKIB ASIAN markets, Aiza, SG. Inc",
  "http://localhost:3000/ https://h:8443?x=1 ws://[::1]:80 git@github.com:a/b.git mailto:a@b",
  "12:34:56 1700000000:0;ls 2024010112:ok",
  "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQsw\n-----END CERTIFICATE-----",
  'if line == "-----BEGIN RSA PRIVATE KEY-----":\n    return key\n',
  "-----BEGIN RSA PRIVATE KEY-----\n$ ls\nREADME.md",
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl bob@host",
])("[RED-9, RED-12, RED-13] %j stays as it is", (text) => {
  expect(redactText(text)).toBe(text);
});

test.each([
  ["glued to JSON", `"x\\n${GITHUB}"`, `"x\\n${HIDDEN}"`],
  ["glued to a URL", `?t%3D${GITHUB}&`, `?t%3D${HIDDEN}&`],
  ["behind cat -v", `^[[1m${GITHUB}^[[0m`, `^[[1m${HIDDEN}^[[0m`],
  ["in OSC 8", `\u001B]8;;http://h/${GITHUB}\u001B\\link`, `\u001B]8;;http://h/${HIDDEN}\u001B\\link`],
  ["as an assignment", `GITHUB_TOKEN=${GITHUB}`, `GITHUB_TOKEN=${HIDDEN}`],
  ["twice", `${GITHUB} ${GITHUB}`, `${HIDDEN} ${HIDDEN}`],
  ["npm_hf_", `npm_hf_${KEY}`, `npm_hf_${"*".repeat(36)}`],
  ["painted after cursor movement", `x\u001B[5;1H${GITHUB}`, `x\u001B[5;1H${HIDDEN}`],
])("[RED-8, RED-9] a token %s is found", (_where, text, expected) => {
  expect(redactText(text)).toBe(expected);
});

const COLOUR = "\u001B[01;31m\u001B[K";
test.each(Array.from(GITHUB, (_, at) => at))(
  "[RED-11] a colour code or a line break at %i does not hide a token",
  (at) => {
    for (const between of [COLOUR, "\u001B(B\u001B[m", "\n", "\r\n", at > 4 ? " \r" : "\n"]) {
      const text = `a ${GITHUB.slice(0, at)}${between}${GITHUB.slice(at)} b`;

      expect(redactText(text)).toBe(`a ${HIDDEN.slice(0, at)}${between}${HIDDEN.slice(at)} b`);
    }
  },
);

test("[RED-11] behind a token of its usual length the next line is another text", () => {
  expect(redactText(`${GITHUB}\r\nDone`)).toBe(`${HIDDEN}\r\nDone`);
});

test.each([
  ['DB_PASSWORD="a b" x', 'DB_PASSWORD="***" x'],
  ["password='it''s'", "password='**''*'".replace("''*'", "''s'")],
  ["mysql.password   =   hunter2", "mysql.password   =   *******"],
  ["?user=a&password=b%20c&x=1", "?user=a&password=*****&x=1"],
  ["Server=h;Password=pw;Port=1", "Server=h;Password=**;Port=1"],
  ['{\\"password\\":\\"hunter2\\",\\"a\\":1}', '{\\"password\\":\\"********",\\"a\\":1}'],
  ['password := "x y"', 'password := "***"'],
  [":password => 'xy',", ":password => '**',"],
  ['config["password"] = "xy"', 'config["password"] = "**"'],
  ["password = b'xy' + z", "password = *'**' + z"],
  ['password=rb"x y"', 'password=**"***"'],
  ["Passphrase: geheim", "Passphrase: ******"],
  ["client-secret: abc", "client-secret: ***"],
  ["SMTP_PASS=abc DB_PWD=def", "SMTP_PASS=*** DB_PWD=***"],
  ["password: strongest", "password: *********"],
  ["password: $2b$12$abc", "password: $*********"],
  ["password: pässwörd€ x", "password: ********* x"],
  ["password: hunt\b \ber2", "password: ****\b \b***"],
])("[RED-14] %s", (text, expected) => {
  expect(redactText(text)).toBe(expected);
});

test.each([
  "Password: ",
  "Password:\r\nLast login: Mon",
  "[sudo] password for bob: ",
  "[sudo] password for bob: \r\nSorry, try again.",
  "Enter passphrase for key '/srv/bob/.ssh/id': ",
  "New password: \r\nRetype new password: \r\npasswd: password updated successfully",
  "\u001B[10;5HPassword:\u001B[12;3H<Ok>",
])("[RED-15] %j stays readable", (text) => {
  expect(redactText(text)).toBe(text);
});

test.each([
  "def f(user: str, password: str, x: int)",
  "password=None, token=None",
  "password = getpass()",
  "password = getpass.getpass('Password: ')",
  'password = os.environ["DB_PASSWORD"]',
  "connect(password=self.password)",
  "password: string;",
  "password: z.string().min(8)",
  "password = await ask()",
  "authorization = headers.get(name)",
  "password: null",
  "password=$DB_PASSWORD",
  'password="${DB_PASSWORD}"',
  "password=$(cat f)",
  "password: <your password>",
  "password: {{ vault.password }}",
  "password=%s",
  'password=""',
  "password: , user: bob",
  "usage: x [--password PASSWORD] [--token TOKEN]",
  "  --password            ask for a password",
  "--password=STRING",
  "passwords: 3, password_file: /run/x",
  "passwd:         files systemd",
])("[RED-16, RED-18] %s stays as it is", (text) => {
  expect(redactText(text)).toBe(text);
});

test.each([
  ["token: <token>", "token: <token>"],
  ["token = lexer.next()", "token = lexer.next()"],
  ["max_token=512", "max_token=512"],
  ["secret: my-app-settings", "secret: my-app-settings"],
  [`token: ${KEY}`, `token: ${"*".repeat(36)}`],
  [`X-Api-Key: ${KEY}`, `X-Api-Key: ${"*".repeat(36)}`],
  [`--api-key ${KEY} x`, `--api-key ${"*".repeat(36)} x`],
])("[RED-17] %s", (text, expected) => {
  expect(redactText(text)).toBe(expected);
});

test.each([
  ['"Authorization": "Bearer abc"', '"Authorization": "Bearer ***"'],
  ["Authorization: raw-credential", "Authorization: **************"],
  ["Proxy-Authorization: Basic YTpi", "Proxy-Authorization: Basic ****"],
  ["Authorization: Bearer $TOKEN", "Authorization: Bearer $TOKEN"],
  [`Bearer ${KEY}`, `Bearer ${"*".repeat(36)}`],
  ["Bearer tokens are strings", "Bearer tokens are strings"],
])("[RED-19] %s", (text, expected) => {
  expect(redactText(text)).toBe(expected);
});

test.each(["/etc/passwd:root:x:0:0", "passwd: unrecognized option", "bob ALL=(ALL) NOPASSWD: ALL"])(
  "[RED-20] %s stays as it is",
  (text) => {
    expect(redactText(text)).toBe(text);
  },
);

const BEGIN = "-----BEGIN RSA PRIVATE KEY-----";
const END = "-----END RSA PRIVATE KEY-----";
const STARS = "*".repeat(36);
test.each([
  [
    "with headers",
    `${BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n${KEY}\n${END}`,
    `${BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n${STARS}\n${END}`,
  ],
  [
    "with line numbers",
    `  1\t${BEGIN}\n  2\t${KEY}\n  3\tab=\n  4\t${END}`,
    `  1\t${BEGIN}\n  2\t${STARS}\n  3\t***\n  4\t${END}`,
  ],
  ["removed in a diff", `-${BEGIN}\n-${KEY}\n-ab=\n-${END}\n x`, `-${BEGIN}\n-${STARS}\n-***\n-${END}\n x`],
  ["on one line", `K="${BEGIN} ${KEY} ab= ${END}"`, `K="${BEGIN} ${STARS} *** ${END}"`],
  ["cut short", `${BEGIN}\n${KEY}\nbob@host:~$ ls README.md`, `${BEGIN}\n${STARS}\nbob@host:~$ ls README.md`],
  [
    "wrapped",
    `${BEGIN}\n${KEY.slice(0, 30)}\n${KEY.slice(30)}\n${KEY}\n${END}`,
    `${BEGIN}\n${STARS.slice(0, 30)}\n******\n${STARS}\n${END}`,
  ],
])("[RED-13] a private key %s", (_how, text, expected) => {
  expect(redactText(text)).toBe(expected);
});

test("[RED-7] characters outside of ASCII and what is undecided at the end stay", () => {
  expect(redactText("日本語 🔑 sk-abc")).toBe("日本語 🔑 sk-abc");
  expect(redactText("password: 日本🔑 ok")).toBe("password: **** ok");
  expect(redactText("")).toBe("");
});
