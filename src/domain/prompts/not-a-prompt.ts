/** Text at the cursor that nobody has to answer: what only looks like a question, and the prompts of shells. */

const SHELLS = new Set("bash zsh fish dash sh ash ksh mksh tcsh csh busybox nu xonsh pwsh rbash".split(" "));
/** They read their own prompt in lines. */
const COOKED_SHELLS = new Set(["dash", "sh", "ash", "busybox"]);
const SHELL_PROMPT =
  /^(?:\([^)]{1,40}\)\s*)?(?:\[?[\w.+-]+@[\w.-]+[^?]*|[\w~/.:[\]-]{0,60}\s?|PS [A-Z]?[^?]*|.*[~/][\w./~-]*\s*)?[$#%❯➜λ]\s*$|^PS [^?]*>\s*$|^[\w.-]+@[\w.-]+[^?]*>\s*$/u;
const ANY_PROMPT_SIGN = /[$#%>❯➜λ»]\s*$/u;

/** `program` is empty when nobody could look. */
export function isShellPrompt(asking: string, program: string, canonical: boolean | undefined): boolean {
  const text = asking.trimEnd();
  if (text === "") return false;
  if (!SHELLS.has(program)) return isOfUnknown(program) && SHELL_PROMPT.test(asking);
  if (canonical === true && !COOKED_SHELLS.has(program)) return false;
  return SHELL_PROMPT.test(asking) || (ANY_PROMPT_SIGN.test(text) && !/[?:]/u.test(text) && text.length < 80);
}

function isOfUnknown(program: string): boolean {
  return (
    program === "" || /^(?:ssh|mosh-client|telnet|docker|podman|kubectl|su|sudo|screen|tmux|script|login)/.test(program)
  );
}

const REPL =
  /^(?:\[\d+\]\s)?(?:>>>|\.\.\.|>|\*|In \[\d+\]:|\([\w -]{1,20}\)|[\p{L}][\w .:~/@()[\]-]{0,40}[=\-'"*(]?(?:>|=#)|[\w-]+=[#>]|irb.*>|ghci>|[\p{L}]+ \([m?] (?:for help|für Hilfe)\):)\s*$/u;

/** The prompt of an interpreter, a database or a debugger: text may be typed, nothing is asked. */
export function isReplPrompt(asking: string): boolean {
  const text = asking.trim();
  return REPL.test(text) && !/\s>$/u.test(text) && text !== "(to)";
}

const PROGRESS =
  /\d{1,3}(?:[.,]\d+)?\s?%|[[(|][=#>.\-█▉▊▋▌▍▎▏░▒▓ ]{4,}[\])|]|[█▉▊▋▌▍▎▏░▒▓]{2,}|[⠁-⣿]|\bETA\b|\b\d+(?:\.\d+)?\s?[KMG]i?B\/s\b|\.{3}\s*(?:done)?\s*$|…\s*$/u;
const LOG =
  /^\s*(?:\[?\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d|\[[^\]]*\]\s*(?:info|warn|error|debug))|^\s*\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE|FATAL|NOTICE)\b|\blevel=\w+|^\S+\s*\|\s/u;
const CODE =
  /[;{}]\s*$|^\s*(?:#\s|\/\/|\/\*|\*\s|<!--|--\s|def |class |function |const |let |var |if |for |while |return |echo |printf |read |import |from |print\(|console\.|\$ |\+ |- \[|\d+[:|]\s)|(?:input|prompt|confirm|getpass|readline|echo|print\w*|puts|write)\s*\(|["'`]\s*[),;]*\s*$|^\s*[-+] /u;
const DOCUMENT = /^\s*(?:>\s|[-*•]\s|#{1,6}\s|\|)|`[^`]*$|^\s*(?:example|usage|note|see|e\.g\.)\b/iu;

/** Judged where nobody could look whether the program waits. */
export function looksLikeText(asking: string): boolean {
  return LOG.test(asking) || CODE.test(asking) || DOCUMENT.test(asking);
}

export function looksLikeProgress(asking: string): boolean {
  return PROGRESS.test(asking);
}
