import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import { Redactor } from "./redactor.ts";

function text(...parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString();
}

function expecting(...secrets: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.expectSecret(Buffer.from(secret));
  return redactor;
}

test("[RED-21] what was typed is masked wherever it appears, in whatever pieces", () => {
  const output = "xhunhunter2 and hunter2hunter2 or hunter\r\n";
  const expected = "xhun******* and ************** or hunter\r\n";
  const pieces = Array.from(output, (_, at) => {
    const redactor = expecting("hunter2\r");
    return text(redactor.push(Buffer.from(output.slice(0, at))), redactor.push(Buffer.from(output.slice(at))));
  });

  expect(new Set(pieces)).toEqual(new Set([expected]));
});

test("[RED-21] of several values, also overlapping ones, all are masked", () => {
  const redactor = expecting("abcdef", "defghi");

  expect(text(redactor.push(Buffer.from("-abcdefghi- abcdeg defghi.")))).toBe("-*********- abcdeg ******.");
});

test("[RED-3, RED-21] echoed key by key it is masked key by key, and nothing stays held", () => {
  const redactor = expecting("hunter2");
  const keys = "hunter2\r\nhello".split("").flatMap((key) => [redactor.push(Buffer.from(key)), redactor.settle()]);

  // The `h` of `hello` might have been the begin of another echo.
  expect(text(...keys)).toBe("*******\r\n*ello");
  expect(redactor.held).toBe(0);
});

test("[RED-21] what commands the terminal is left alone, though a value begins so", () => {
  const redactor = expecting("hunter2", "2004", "[31m");
  const output = "\u001B[?2004h\u001B[31mhunter2 2004\u001B[?2004h";

  expect(text(redactor.push(Buffer.from(output)), redactor.settle())).toBe(
    "\u001B[?2004h\u001B[31m******* ****\u001B[?2004h",
  );
});

test("[RED-2, RED-21] at most 32 bytes of a long value are held", () => {
  const secret = "0123456789".repeat(10);
  const redactor = expecting(secret);
  const output = `${secret}!`.split("").map((byte) => {
    const pushed = redactor.push(Buffer.from(byte));
    expect(redactor.held).toBeLessThanOrEqual(32);
    return pushed;
  });

  expect(text(...output)).toBe(`${"*".repeat(100)}!`);
});

test("[RED-21] after 4 KB of output it is forgotten by itself", () => {
  const redactor = expecting("hunter2");
  const filler = ".".repeat(4095);

  expect(text(redactor.push(Buffer.from(`${filler}hunter2 hunter2`)))).toBe(`${filler}******* hunter2`);
});

test("[RED-21] forgotten, it is masked no more; what stood half there is", () => {
  const redactor = expecting("hunter2");
  const before = redactor.push(Buffer.from("a hunter2 hunt"));
  redactor.forgetSecrets();

  expect(text(before, redactor.push(Buffer.from("er2 hunter2")))).toBe("a ******* ****er2 hunter2");
});

test("[RED-21] three bytes are too few to look for", () => {
  expect(text(expecting("abc\n").push(Buffer.from("abc abc")))).toBe("abc abc");
});

test("[RED-5, RED-21] ranges of echoes and of tokens are told in order", () => {
  const redactor = expecting("word word");
  redactor.push(Buffer.from("password: word word!"));

  expect(redactor.takeRanges()).toEqual([[10, 19]]);
});
