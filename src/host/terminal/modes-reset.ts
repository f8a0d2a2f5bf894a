/** What takes back the modes that a program set in its terminal and can't take back any more. */

/** Only where there is one to leave: elsewhere it puts the cursor somewhere else. */
export const ALTERNATE_SCREEN_RESET = Buffer.from(sequence([1049]));

/** Set by programs that own the screen, never by a shell's line editor: mouse, focus. */
export const SCREEN_RESET = Buffer.from(sequence([9, 1000, 1002, 1003, 1004, 1006]));

/** Those, and keypad and cursor keys, paste, colours, character set, hidden cursor. */
export const MODES_RESET = Buffer.from(
  `${sequence([1, 9, 1000, 1002, 1003, 1004, 1006, 2004])}\u001b>\u001b[0m\u001b(B\u001b[?25h`,
);

function sequence(modes: readonly number[]): string {
  return modes.map((mode) => `\u001b[?${mode}l`).join("");
}
