/** What `parseArgs` found wrong, in one sentence without its full stop; Node's advice on positionals is left out. */
export function argumentProblem(error: unknown): string {
  const { message } = error as Error;
  const [sentence = ""] = message.split(/\.?\n|\. |\.$/);
  const [, written] = /use '(--[\w-]+=)-XYZ'/.exec(message) ?? [];
  return written === undefined ? sentence : `${sentence}: a value that begins with a dash is written ${written}-...`;
}
