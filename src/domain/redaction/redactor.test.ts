import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SEED, seeded } from "../../../test/crash/seeded.ts";
import { redactText } from "./redact-text.ts";
import { Redactor } from "./redactor.ts";
import { soakCount } from "../../../test/support/soak.ts";

const RANDOM_SPLITS = soakCount(2_000);
const SHOWN_AT_MOST = 5;

const ALNUM36 = "abcdefghijklmnopqrstuvwxyz0123456789";
const MIXED = "Zk3vQ9mX7tLpW2sRbN8cYd5fGh1jKa6uEoV4iTqM0wPxBzSnCyHrDgFlJeUkAaIb";
const JWT_REST =
  "hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
const PEM_LINES = [MIXED, MIXED.toLowerCase(), "Qm9iJ3M="];

/** What is before the body, the body, what is behind it. */
const POSITIVES: Readonly<Record<string, readonly [string, string, string]>> = {
  "github ghp_": ["token is ghp_", ALNUM36, " ok\r\n"],
  "github gho_": ["gho_", MIXED.slice(0, 36), "\n"],
  "github ghu_": ["x=ghu_", MIXED.slice(0, 36), ";"],
  "github ghs_": ["x=ghs_", MIXED.slice(0, 36), ";"],
  "github ghr_": ["'ghr_", MIXED.slice(0, 36), "'"],
  "github pat": ["github_pat_", `11ABCDEFG0${MIXED.slice(0, 12)}_${MIXED.slice(0, 59)}`, " "],
  gitlab: ["glpat-", MIXED.slice(3, 23), "\r\n"],
  "slack xoxb": ["SLACK xoxb-", `123456789012-1234567890123-${MIXED.slice(0, 24)}`, " "],
  "slack xoxp": ["xoxp-", `123456789012-123456789012-${MIXED.slice(0, 32)}`, " "],
  "slack xapp": ["xapp-", `1-A012ABCDEF-1234567890123-${MIXED.slice(0, 40).toLowerCase()}`, " "],
  openai: ["key sk-", MIXED.slice(0, 48), " end"],
  "openai lower": ["key sk-", `${ALNUM36}abcdef`, " end"],
  "openai project": ["sk-proj-", `${MIXED}_${MIXED}-T3BlbkFJ${MIXED}`, "\n"],
  anthropic: ["export K=sk-ant-", `api03-${MIXED}-${MIXED.slice(0, 30)}AA`, "\n"],
  "aws key id": ["AKIA", "IOSFODNN7EXAMPLE", " "],
  "aws temporary key id": ["ASIA", "IOSFODNN7EXAMPLE", " "],
  "aws secret": ["aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "\r\n"],
  google: ["AIza", `SyA${MIXED.slice(0, 32)}`, "&x"],
  "stripe secret": ["sk_live_", MIXED.slice(0, 24), " "],
  "stripe restricted": ["rk_live_", MIXED.slice(0, 24), " "],
  "stripe webhook": ["whsec_", MIXED.slice(0, 32), " "],
  npm: ["//registry.example.org/:_authToken=npm_", MIXED.slice(0, 36), "\n"],
  pypi: ["pypi-", `AgEIcHlwaS5vcmc${MIXED}${MIXED}`, " "],
  huggingface: ["hf_", MIXED.slice(0, 34).replaceAll(/\d/g, "q"), " "],
  sendgrid: ["SG.", `${MIXED.slice(0, 22)}.${MIXED.slice(0, 43)}`, " "],
  telegram: ["https://api.telegram.org/bot110201543:", "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1", "/getMe"],
  jwt: ["jwt eyJ", JWT_REST, " ok"],
  "jwt, unusual header": ["eyJ2IjoyfQ.eyJ", JWT_REST.slice(37), " ok"],
  pem: [
    "-----BEGIN RSA PRIVATE KEY-----\r\n",
    PEM_LINES.join("\r\n"),
    "\r\n-----END RSA PRIVATE KEY-----\r\nplain words\r\n",
  ],
  "pem as JSON": [
    '{"key":"-----BEGIN PRIVATE KEY-----\\n',
    PEM_LINES.join("\\n"),
    '\\n-----END PRIVATE KEY-----\\n","id":1}',
  ],
  "bearer header": ["authorization: Bearer ", "abc.DEF-ghi_jkl", "\r\nAccept: */*\r\n"],
  "basic header": ["curl -H 'Authorization: Basic ", "Ym9iOmh1bnRlcjI=", "' http://h/"],
  "url password": ["git clone https://bob:", "hunter2-and-more", "@example.com/x.git"],
  "long url password": ["redis://:", MIXED, "@h:6379/0"],
  option: ["mysql --user bob --password ", "hunter2!", " --host h"],
  "password equals": ["DB_PASSWORD=", "correct-horse", " next"],
  "password colon": ["password: ", "hunter2,#)", " next"],
  "quoted password": ['{"password": "', 'correct \\"horse\\" battery', '", "user": "bob"}'],
  "coloured json": ['\u001B[34;1m"password"\u001B[0m\u001B[1;39m:\u001B[0m \u001B[0;32m"', "staple7", '"\u001B[0m'],
  "random token": ['api_key: "', MIXED.slice(0, 20), '"'],
};
const positives = Object.entries(POSITIVES);

function bytes(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

function join(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString("latin1");
}

/** What comes out when the parts are pushed one after another. */
function through(parts: readonly string[], between: "nothing" | "settle" = "nothing"): string {
  const redactor = new Redactor();
  const out = parts.flatMap((part) => {
    const pushed = redactor.push(bytes(part));
    expect(redactor.held).toBeLessThanOrEqual(32);
    return between === "settle" ? [pushed, redactor.settle()] : [pushed];
  });
  return join([...out, redactor.barrier()]);
}

/** Cut at the given places. */
function cut(text: string, places: readonly number[]): string[] {
  const sorted = [0, ...places.toSorted((one, other) => one - other), text.length];
  return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
}

function masked(body: string): string {
  return body.replaceAll(/\\n|[^\r\n]/g, (found) => (found === "\\n" ? found : "*"));
}

/** The longest part of the body that the output shows; what stands between its lines is no part. */
function longestShown(body: string, output: string): number {
  const lines = body.split(/\r\n|\\n/);
  const shown = (length: number): boolean =>
    lines.some((line) => {
      for (let at = 0; at + length <= line.length; at += 1)
        if (output.includes(line.slice(at, at + length))) return true;
      return false;
    });
  return shown(SHOWN_AT_MOST + 1) ? SHOWN_AT_MOST + 1 : 0;
}

describe.each(positives)("%s", (_name, [before, body, behind]) => {
  const text = before + body + behind;
  const expected = before + (body.includes("\\n") ? masked(body) : body.replaceAll(/[^\r\n]/g, "*")) + behind;

  test("[RED-1, RED-8, RED-10, RED-12, RED-13, RED-14, RED-18, RED-19] the body is masked and the rest stays", () => {
    expect(through([text])).toBe(expected);
  });

  test("[RED-1, RED-2] it is the same cut in two anywhere", () => {
    const outputs = new Set(Array.from(text, (_, at) => through(cut(text, [at]))));

    expect([...outputs]).toEqual([expected]);
  });

  test("[RED-1] it is the same cut into three to five parts, and into single bytes", () => {
    const random = seeded(SEED);
    const outputs = new Set<string>([through(text.split(""))]);
    for (let round = 0; round < RANDOM_SPLITS; round += 1) {
      outputs.add(
        through(
          cut(
            text,
            Array.from({ length: 2 + random(3) }, () => random(text.length)),
          ),
        ),
      );
    }

    expect([...outputs], `seed ${SEED}`).toEqual([expected]);
  });

  test("[RED-3] wherever output falls quiet, six characters of the body are never shown", () => {
    const random = seeded(SEED);
    const places = [
      ...Array.from(text, (_, at) => [at]),
      ...Array.from({ length: RANDOM_SPLITS }, () => Array.from({ length: 2 + random(3) }, () => random(text.length))),
      text.split("").map((_, at) => at),
    ];
    const shown = places.map((at) => longestShown(body, through(cut(text, at), "settle")));

    expect(Math.max(...shown), `seed ${SEED}`).toBeLessThanOrEqual(SHOWN_AT_MOST);
  });
});

test("[RED-2] a clean chunk is answered as it is, and a prompt or the begin of a prefix is not held", () => {
  const redactor = new Redactor();
  const chunks = [
    "drwxr-xr-x 2 bob bob\r\n",
    "Password: ",
    "\r\n[sudo] password for bob: ",
    "\r\n$ gh",
    "p_",
    " sk-",
    "\n",
  ].map(bytes);

  expect(chunks.map((chunk) => redactor.push(chunk) === chunk)).toEqual(chunks.map(() => true));
  expect(redactor.held).toBe(0);
});

test("[RED-2] what could be a body is held until it is decided", () => {
  const redactor = new Redactor();

  expect(join([redactor.push(bytes("see ghp_abc"))])).toBe("see ghp_");
  expect(redactor.held).toBe(3);
  expect(join([redactor.push(bytes("_x "))])).toBe("abc_x ");
  expect(redactor.held).toBe(0);
});

test("[RED-3] quiet masks what is undecided and what continues it, to its end", () => {
  const redactor = new Redactor();
  const out = [redactor.push(bytes("a ghp_abc")), redactor.settle(), redactor.push(bytes("def next"))];

  expect(out.map((part) => join([part]))).toEqual(["a ghp_", "***", "*** next"]);
});

test("[RED-3] quiet shows a port", () => {
  expect(through(["Listening on http://localhost:3000"], "settle")).toBe("Listening on http://localhost:3000");
});

test("[RED-4] a barrier releases what is held, and typing goes on being masked behind it", () => {
  const redactor = new Redactor();
  const typed = "Password: hunter2\r\nok".split("").map((key) => [redactor.push(bytes(key)), redactor.barrier()]);

  expect(join(typed.flat())).toBe("Password: *******\r\nok");
  expect(redactor.held).toBe(0);
});

test("[RED-5] masked ranges are canonical offsets, merged, told once", () => {
  const redactor = new Redactor(1000);
  redactor.push(bytes("password: hun"));
  redactor.push(bytes("ter2 x password=\u001B[1mab\u001B[0mcd "));

  expect(redactor.takeRanges()).toEqual([
    [1010, 1017],
    [1033, 1035],
    [1039, 1041],
  ]);
  expect(redactor.takeRanges()).toEqual([]);
});

test("[RED-5] ranges are where the output differs from the input", () => {
  const redactor = new Redactor(7);
  const text = positives.map(([, parts]) => parts.join("")).join("\r\n");
  const output = join([redactor.push(bytes(text)), redactor.barrier()]);
  const differing = Array.from(output, (_, at) => at + 7).filter((at) => output[at - 7] !== text[at - 7]);
  const told = redactor.takeRanges().flatMap(([from, to]) => Array.from({ length: to - from }, (_, at) => from + at));

  expect(told).toEqual(differing);
});

test("[RED-1, RED-6] random bytes come out as many as went in, the same for every cut", () => {
  const pieces = [
    "ghp_",
    "sk-",
    "password=",
    "Bearer ",
    "://a:",
    "-----BEGIN PRIVATE KEY-----",
    "\u001B[",
    "\u001B[31m",
    "\r\n",
    "eyJ",
    "--token ",
  ];
  const piece = fc.oneof(
    fc.constantFrom(...pieces),
    fc.string({ unit: "binary-ascii", maxLength: 24 }),
    fc.stringMatching(/^[A-Za-z0-9@_. -]{0,24}$/),
    fc.uint8Array({ maxLength: 8 }).map((array) => Buffer.from(array).toString("latin1")),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 6 }), (parts, places) => {
      const text = parts.join("");
      const whole = through([text]);
      expect(whole).toHaveLength(text.length);
      expect(
        through(
          cut(
            text,
            places.map((place) => place % (text.length + 1)),
          ),
        ),
      ).toBe(whole);
      expect(through(text.split(""))).toBe(whole);
    }),
    { seed: SEED, numRuns: RANDOM_SPLITS * 5 },
  );
});

test("[RED-6] every byte value and broken UTF-8 pass unharmed", () => {
  const all = Uint8Array.from({ length: 4096 }, (_, index) => (index * 7 + (index >> 8)) & 0xff);
  const redactor = new Redactor();

  expect(redactor.push(all)).toBe(all);
});

test.each(["\u0000", "\u0001\u0002"])(
  "[RED-11] what no terminal shows inside a token doesn't hide it: %j",
  (hidden) => {
    const body = "0123456789abcdefghij0123456789abcdefgh";
    const given = `key ghp_${body.slice(0, 15)}${hidden}${body.slice(15)} end`;
    const redactor = new Redactor();

    const out = Buffer.concat([redactor.push(Buffer.from(given)), redactor.barrier()]).toString();

    expect(out).toBe(`key ghp_${"*".repeat(15)}${hidden}${"*".repeat(23)} end`);
  },
);

test("[RED-15] after a cut the line goes on as something else, not as the value of a question", () => {
  const redactor = new Redactor();

  const asked = redactor.push(Buffer.from("Password: "));
  const cut = redactor.cut();
  const next = redactor.push(Buffer.from("\u001b[?2004hroot@vm:~# "));

  expect(Buffer.concat([asked, cut, next, redactor.barrier()]).toString()).toBe("Password: \u001b[?2004hroot@vm:~# ");
});

test("[RED-16] the quote behind a question in a command is no begin of a value", () => {
  expect(redactText('read -sp "Password: " p')).toBe('read -sp "Password: " p');
});
