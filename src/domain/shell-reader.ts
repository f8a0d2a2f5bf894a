/**
 * Reads shell text (bash, zsh, dash; near enough for fish) into the words of each command, those in substitutions
 * too. Nothing is expanded: a word is what stands there, without its quotes. Total: what is left open ends with the text.
 */

/** Of one command: from its first word to an operator or the end of its line. */
export type CommandWords = readonly string[];

type HereDocument = { readonly end: string; readonly isQuoted: boolean; readonly isIndented: boolean };

const BLANK = /[ \t]|\\\n/y;
const OPERATOR = /;;&|;[;&]|&&|\|[|&]|[;&|\n]/y;
const REDIRECTION = /<<<|<<-|<[<>&]|>[>&|]|&>>|&>|[<>]/y;
const ENDS_WORD = /[\s;&|<>()]/;
/** Substitutions in substitutions: no person writes so many, and a stack has an end. */
const NESTING_MAX = 100;

export class ShellReader {
  readonly #text: string;
  readonly #found: CommandWords[] = [];
  readonly #documents: HereDocument[] = [];
  #at = 0;
  #nesting = 0;

  constructor(text: string) {
    this.#text = text;
  }

  commands(): readonly CommandWords[] {
    while (this.#isMore) {
      this.#list();
      // A parenthesis that nobody opened.
      this.#at += 1;
    }
    return this.#found;
  }

  get #isMore(): boolean {
    return this.#at < this.#text.length;
  }

  get #next(): string {
    return this.#text[this.#at] ?? "";
  }

  /** Up to the parenthesis that closes it, which is left, or the end. */
  #list(): void {
    let words: string[] = [];
    let cases = 0;
    const over = (): void => {
      if (words.length > 0) this.#found.push(words);
      words = [];
    };
    while (this.#isMore && this.#next !== ")") {
      if (this.#take(BLANK) !== "") continue;
      if (this.#next === "#") {
        this.#skipLine();
      } else if (this.#next === "(") {
        if (this.#parenthesis(words)) words = [];
      } else if (this.#isRedirection()) {
        this.#redirection(words);
      } else {
        const operator = this.#take(OPERATOR);
        if (operator === "") words.push(this.#word().text);
        else over();
        if (operator === "\n") this.#skipDocuments();
        const isCase = operator === "" && isCaseHead(words);
        if (operator === "" && words.length === 1 && words[0] === "esac") cases -= 1;
        if (operator === "" && words.at(-1) === "[[" && words.length <= 3) this.#skipTest();
        if (isCase) cases += 1;
        if (isCase || (cases > 0 && operator.startsWith(";") && operator !== ";")) {
          words = [];
          this.#skipPattern();
        }
      }
    }
    over();
  }

  /** True: it was the head of a function. */
  #parenthesis(words: readonly string[]): boolean {
    const isArray = words.at(-1)?.endsWith("=") === true && this.#text[this.#at - 1] === "=";
    const from = (this.#at += 1);
    if (isArray) this.#skipWords();
    else this.#nested();
    return words.length === 1 && this.#text.slice(from, this.#at - 1).trim() === "";
  }

  /** Commands up to the closing parenthesis, and that. */
  #nested(): void {
    if (this.#nesting >= NESTING_MAX) {
      this.#at = this.#text.length;
      return;
    }
    this.#nesting += 1;
    this.#list();
    this.#nesting -= 1;
    this.#at += 1;
  }

  /** Words that are no commands, up to the closing parenthesis. */
  #skipWords(): void {
    while (this.#isMore && this.#next !== ")") {
      if (ENDS_WORD.test(this.#next)) this.#at += 1;
      else this.#word();
    }
    this.#at += 1;
  }

  /** `[[ … ]]`: its operators begin no command. */
  #skipTest(): void {
    while (this.#isMore) {
      if (ENDS_WORD.test(this.#next)) this.#at += 1;
      else if (this.#word().text === "]]") return;
    }
  }

  /** Of `case`, unless it is over. */
  #skipPattern(): void {
    while (/\s/.test(this.#next)) this.#at += 1;
    if (/^esac\b/.test(this.#text.slice(this.#at, this.#at + 5))) return;
    if (this.#next === "(") this.#at += 1;
    this.#skipWords();
  }

  #skipLine(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#text.length : end;
  }

  #isRedirection(): boolean {
    REDIRECTION.lastIndex = this.#at;
    return REDIRECTION.test(this.#text);
  }

  #redirection(words: string[]): void {
    if (/^[<>]\($/.test(this.#text.slice(this.#at, this.#at + 2))) {
      this.#at += 2;
      this.#nested();
      return;
    }
    // The number before it names a descriptor.
    if (/^\d+$/.test(words.at(-1) ?? "") && /\d/.test(this.#text[this.#at - 1] ?? "")) words.pop();
    const operator = this.#take(REDIRECTION);
    while (this.#take(BLANK) !== "");
    if (ENDS_WORD.test(this.#next)) return;
    const { text, isQuoted } = this.#word();
    if (operator === "<<" || operator === "<<-") {
      this.#documents.push({ end: text, isQuoted, isIndented: operator === "<<-" });
    }
  }

  #skipDocuments(): void {
    for (const { end, isQuoted, isIndented } of this.#documents.splice(0)) {
      const body = this.#at;
      for (let line: string | undefined; this.#isMore && line !== end; this.#at += 1) {
        const from = this.#at;
        this.#skipLine();
        line = this.#text.slice(from, this.#at);
        if (isIndented) line = line.replace(/^\t+/, "");
      }
      if (!isQuoted) this.#readApart(this.#text.slice(body, this.#at), (it) => it.#substitutions());
    }
  }

  /** In text where quotes mean nothing. */
  #substitutions(): void {
    while (this.#isMore) this.#expandable();
  }

  #readApart(text: string, read: (reader: ShellReader) => void): void {
    if (this.#nesting >= NESTING_MAX) return;
    const reader = new ShellReader(text);
    reader.#nesting = this.#nesting + 1;
    read(reader);
    this.#found.push(...reader.#found);
  }

  #word(): { readonly text: string; readonly isQuoted: boolean } {
    let text = "";
    let isQuoted = false;
    while (this.#isMore && !ENDS_WORD.test(this.#next)) {
      isQuoted ||= /['"\\]/.test(this.#next);
      if (this.#next === "'") text += this.#single();
      else if (this.#next === '"') text += this.#double();
      else text += this.#expandable();
    }
    return { text, isQuoted };
  }

  #single(): string {
    const from = this.#at + 1;
    // Only in $'…' a backslash keeps the quote.
    const isEscaping = this.#text[this.#at - 1] === "$";
    for (this.#at = from; this.#isMore && this.#next !== "'"; this.#at += 1) {
      if (isEscaping && this.#next === "\\") this.#at += 1;
    }
    const text = this.#text.slice(from, this.#at);
    this.#at += 1;
    return text;
  }

  #double(): string {
    let text = "";
    this.#at += 1;
    while (this.#isMore && this.#next !== '"') text += this.#expandable();
    this.#at += 1;
    return text;
  }

  /** One character, or a substitution: its commands are found, its value isn't known. */
  #expandable(): string {
    const first = this.#next;
    const two = first + (this.#text[this.#at + 1] ?? "");
    if (first === "\\") {
      this.#at += 2;
      return two === "\\\n" ? "" : two.slice(1);
    }
    if (two === "$(") {
      this.#at += 2;
      this.#nested();
      return "$";
    }
    if (first === "`") return this.#backticks();
    if (two === "${") return this.#braces();
    this.#at += 1;
    // `$'…'` and `$"…"` are words too.
    return two === "$'" || two === '$"' ? "" : first;
  }

  #backticks(): string {
    const from = this.#at + 1;
    for (this.#at = from; this.#isMore && this.#next !== "`"; this.#at += 1) {
      if (this.#next === "\\") this.#at += 1;
    }
    const inner = this.#text.slice(from, this.#at).replaceAll(/\\([\\`$])/g, "$1");
    this.#readApart(inner, (it) => it.commands());
    this.#at += 1;
    return "$";
  }

  #braces(): string {
    if (this.#nesting >= NESTING_MAX) this.#at = this.#text.length;
    this.#at += 2;
    this.#nesting += 1;
    while (this.#isMore && this.#next !== "}") {
      if (this.#next === "'") this.#single();
      else if (this.#next === '"') this.#double();
      else this.#expandable();
    }
    this.#nesting -= 1;
    this.#at += 1;
    return "$";
  }

  /** What the pattern matches here; nothing if it doesn't. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ""] = pattern.exec(this.#text) ?? [];
    this.#at += taken.length;
    return taken;
  }
}

function isCaseHead(words: CommandWords): boolean {
  return words.length >= 3 && words.at(-1) === "in" && words.at(-3) === "case";
}
