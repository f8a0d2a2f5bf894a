import * as fc from "fast-check";
import { expect, test } from "vitest";
import { detachKey, TypedKeys } from "./typed-keys.ts";

const E = "\u001b";

function typed(chunks: readonly string[], key = "C-]"): { sent: string; isDetach: boolean } {
  const keys = new TypedKeys(detachKey(key));
  let sent = "";
  for (const chunk of chunks) {
    const taken = keys.push(Buffer.from(chunk, "latin1"));
    sent += taken.keys.toString("latin1");
    if (taken.isDetach) return { sent, isDetach: true };
  }
  return { sent: sent + keys.flush().toString("latin1"), isDetach: false };
}

const ANSWERS = {
  "primary attributes": `${E}[?62;22c`,
  "secondary attributes": `${E}[>41;354;0c`,
  "tertiary attributes": `${E}P!|00000000${E}\\`,
  status: `${E}[0n`,
  "cursor position": `${E}[24;80R`,
  "a mode": `${E}[?2004;1$y`,
  "the background colour": `${E}]11;rgb:1e1e/1e1e/1e1e${E}\\`,
  "a palette colour": `${E}]4;7;rgb:ffff/ffff/ffff\u0007`,
  "the clipboard": `${E}]52;c;aGVsbG8=\u0007`,
  "the version": `${E}P>|kitty(0.35)${E}\\`,
  "a capability": `${E}P1+r544e=787465726d${E}\\`,
  "the window's size": `${E}[8;24;80t`,
  "the keyboard protocol": `${E}[?1u`,
  "the colour scheme": `${E}[?997;1n`,
  "focus gained": `${E}[I`,
  "focus lost": `${E}[O`,
  graphics: `${E}_Gi=31;OK${E}\\`,
};

const KEYS = {
  letters: "ls -l\r",
  "UTF-8": Buffer.from("grün 日本 ✓").toString("latin1"),
  arrows: `${E}[A${E}OB${E}[1;5C`,
  "function keys": `${E}OR${E}[15~${E}[1;2R${E}[24;5~`,
  "Alt with letters": `${E}x${E}]${E}P${E}[`,
  "Alt with an arrow": `${E}${E}[A`,
  "the mouse": `${E}[<0;12;7M${E}[<0;12;7m`,
  "kitty keys": `${E}[97;5u`,
  "modified keys": `${E}[27;5;9~`,
  Escape: E,
  "control characters": "\u0003\u0004\u001a\u0000\u007f",
};

test.each(Object.entries(ANSWERS))("[TCL-6] what the terminal says about %s is not typed", (_name, answer) => {
  expect(typed([`a${answer}b`])).toEqual({ sent: "ab", isDetach: false });
});

test.each(Object.entries(KEYS))("[TCL-6] %s are typed as they are", (_name, keys) => {
  expect(typed([keys])).toEqual({ sent: keys, isDetach: false });
});

test("[TCL-6] the same however the bytes are cut", () => {
  const pieces = fc.constantFrom(
    ...Object.values(ANSWERS),
    ...Object.values(KEYS).filter((it) => !it.endsWith(E)),
    "x",
  );
  // A key that looks like the begin of a sequence is told apart by time alone, not by what follows.
  const certain = pieces.filter((it) => it !== KEYS["Alt with letters"]);
  fc.assert(
    fc.property(fc.array(certain), fc.array(fc.nat(200)), (input, cuts) => {
      const whole = input.join("");
      const places = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].toSorted((a, b) => a - b);
      const chunks = [0, ...places].map((from, at) => whole.slice(from, places[at]));

      expect(typed(chunks)).toEqual(typed([whole]));
    }),
  );
});

test("[TCL-6] a paste passes whole, whatever it holds", () => {
  const paste = `${E}[200~${Object.values(ANSWERS).join("")}\u001d${E}[201~`;

  expect(typed([paste, `${E}[I`, "x"])).toEqual({ sent: `${paste}x`, isDetach: false });
});

test("[TCL-6] the begin of an answer whose rest is late is not typed; a lone Escape is", () => {
  expect(typed([`${E}]11;rgb:1e1e`])).toEqual({ sent: "", isDetach: false });
  expect(typed([`a${E}`])).toEqual({ sent: `a${E}`, isDetach: false });
});

test.each([
  { key: "C-]", press: "\u001d" },
  { key: "C-]", press: `${E}[93;5u` },
  { key: "C-]", press: `${E}[27;5;93~` },
  { key: "C-q", press: "\u0011" },
  { key: "^Q", press: `${E}[113;5u` },
  { key: "Ctrl+\\", press: "\u001c" },
])("[TCL-4] $key detaches; what was typed before it is sent, what follows is not", ({ key, press }) => {
  expect(typed([`ls${press}rm`], key)).toEqual({ sent: "ls", isDetach: true });
});

test.each(["x", "F5", "Enter", "Tab", "Escape", "C-[", "M-x", "nope", ""])(
  "[TCL-4] %j can't be the detach key",
  (key) => {
    expect(() => detachKey(key)).toThrow("should be a control key such as C-]");
  },
);
