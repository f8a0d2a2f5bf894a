/** Letters by which a text looks like another than it is. Rule POL-6 in docs/spec/policy.md. */

/** Code points, in hexadecimal. */
const UNSEEN = ranges(
  // What turns the direction of writing.
  "61C 200E-200F 202A-202E 2066-2069",
  // What isn't drawn at all.
  "AD 34F 115F-1160 17B4-17B5 180B-180F 200B-200D 2060-2065 206A-206F 3164 FE00-FE0F FEFF FFA0 FFF9-FFFB 1BCA0-1BCA3",
  "1D173-1D17A E0000-E0FFF",
  // Blanks that no shell takes for one.
  "85 A0 1680 2000-200A 2028-2029 202F 205F 2800 3000",
);
// oxlint-disable-next-line no-control-regex -- controls are what is looked for
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u0084\u0086-\u009F]/;
/** What emoji are joined and coloured with is seen there. */
const EMOJI = /\p{Extended_Pictographic}(?:\uFE0F|\u200D|\p{Emoji_Modifier})*/gu;

/** Letters that most fonts draw like ASCII ones. */
const LOOK_ALIKE =
  /[\u0391\u0392\u0395-\u0397\u0399\u039A\u039C\u039D\u039F\u03A1\u03A4\u03A5\u03A7\u03B1\u03B9\u03BA\u03BD\u03BF\u03C1\u03C4\u03C5\u03C7\u03F2\u03F3\u0400-\u052F\u0531-\u0587\u13A0-\u13F4\u0251\u0261\u026A\u0131\u01C0\u2C60-\u2CFF\uA4D0-\uA4FD\uFF01-\uFF5E\u2100-\u214F\u{1D400}-\u{1D7FF}\u2024\u2044\u2215\u29F8\u2236\uA789]/u;
const MIXED = new RegExp(
  `[A-Za-z0-9_./-](?:${LOOK_ALIKE.source})|(?:${LOOK_ALIKE.source})[A-Za-z0-9_./-]|(?:^|\\s)[\\u2010-\\u2015\\u2212\\uFE58\\uFE63][A-Za-z]`,
  "u",
);

export type Deception = { readonly mayHaveControls: boolean };

/** The first word that deceives. Keys that are sent may be controls. */
export function deceptiveWord(text: string, { mayHaveControls }: Deception): string | undefined {
  // oxlint-disable-next-line no-control-regex -- everything beyond ASCII
  if (mayHaveControls ? /^[\u0000-\u007F]*$/.test(text) : /^[\t\n -~]*$/.test(text)) return undefined;
  return text.split(/[ \t\n]+/).find((word) => {
    const plain = word.replaceAll(EMOJI, "");
    return isUnseen(plain) || MIXED.test(plain) || (!mayHaveControls && CONTROL.test(plain));
  });
}

function isUnseen(word: string): boolean {
  return Array.from(word).some((letter) => {
    const point = letter.codePointAt(0)!;
    return UNSEEN.some(([first, last]) => point >= first && point <= last);
  });
}

function ranges(...tables: readonly string[]): readonly (readonly [first: number, last: number])[] {
  return tables
    .flatMap((table) => table.split(" "))
    .map((range) => {
      const [first = "", last = first] = range.split("-");
      return [Number.parseInt(first, 16), Number.parseInt(last, 16)] as const;
    });
}
