/** What is found out about one simple command: effects, and what it touches, judged where each path may lead. Rule POL-5. */
import type { Circumstances } from "./action.ts";
import type { Part } from "./part.ts";
import { type Directories, joined, normal } from "./paths.ts";
import {
  EVERYTHING,
  holdsCredentials,
  holdsOurs,
  isCredential,
  isDisk,
  isNowhere,
  isVital,
  mayBeCredential,
  mayBeVital,
  mayReach,
  placeOf,
} from "./places.ts";
import type { Effect, Place, Touch } from "./verdict.ts";
import type { Value, Word } from "./words.ts";

export type Site = { readonly circumstances: Circumstances; readonly directories: Directories };
export type How = Touch["how"];

/** `isDeep`: with everything below. */
export type TouchTerms = { readonly isDeep?: boolean };

const OF_GIT = /\/\.git(?:\/|$)/;

export class Findings {
  readonly #site: Site;
  readonly #effects = new Set<Effect>();
  readonly #touches = new Map<string, Touch>();
  readonly words: (string | undefined)[] = [];
  readonly options: string[] = [];
  readonly programs: string[] = [];
  readonly scripts: string[] = [];

  constructor(site: Site) {
    this.#site = site;
  }

  get home(): string | undefined {
    return this.#site.circumstances.home;
  }

  /** Some of what it touches isn't in the workspace. */
  get touchesOutside(): boolean {
    return [...this.#touches.values()].some(({ place }) => place !== "inside");
  }

  add(...effects: readonly Effect[]): void {
    for (const effect of effects) this.#effects.add(effect);
  }

  has(effect: Effect): boolean {
    return this.#effects.has(effect);
  }

  touch(word: Word, how: How, terms: TouchTerms = {}): void {
    if (how !== "run") this.add(how);
    if (word.values === undefined) {
      this.add("unclear");
      this.#note({ how, path: word.source, place: "unknown" });
      return;
    }
    for (const value of word.values) this.#touchValue(value, how, terms);
  }

  /** The value of an option that nobody said to be a path: what would be a secret there counts as read. */
  suspect(word: Word): void {
    for (const { text, wildAt } of word.values ?? []) {
      const path = text.replace(/^(?:[\w.-]+=)?[@<]?/, "");
      const isPath = !/^!|\s/.test(path) && /[./]/.test(path);
      if (isPath && (wildAt === undefined ? isCredential(path) : mayBeCredential(path))) this.touch(word, "read");
    }
  }

  part(text: string, program: string): Part {
    const { words, options, programs, scripts } = this;
    const [effects, touches] = [[...this.#effects], [...this.#touches.values()]];
    return { text, program, words, options, effects, touches, programs, scripts };
  }

  #touchValue(value: Value, how: How, terms: TouchTerms): void {
    if (value.text.startsWith("/")) return this.#touchAt("/", value, how, terms);
    const { known, mayBeElsewhere } = this.#site.directories;
    for (const directory of known) this.#touchAt(directory, value, how, terms);
    if (!mayBeElsewhere) return;
    const isSecret = isCredential(value.text);
    if (isSecret) this.add("credentials");
    this.add("unclear");
    this.#note({ how, path: value.text, place: isSecret ? "credentials" : "unknown" });
  }

  #touchAt(directory: string, { text, wildAt }: Value, how: How, terms: TouchTerms): void {
    if (wildAt !== undefined) return this.#touchPattern(directory, { text, wildAt }, how, terms);
    const path = normal(joined(directory, text));
    if (isNowhere(path) && how !== "delete") return;
    const place = placeOf(path, this.#site.circumstances);
    this.#weigh(path, place, how, terms);
    this.#note({ how, path, place: how === "delete" && this.#isRoot(path) ? "outside" : place });
  }

  #touchPattern(directory: string, { text, wildAt }: Required<Value>, how: How, terms: TouchTerms): void {
    const cut = text.lastIndexOf("/", wildAt) + 1;
    const base = normal(joined(directory, text.slice(0, cut) || "."));
    const pattern = text.slice(cut);
    const path = `${base === "/" ? "" : base}/${pattern}`;
    const only = pattern.replace(/\/$/, "");
    const isAllBelow = only === `**/${EVERYTHING}`;
    if (how === "delete" && mayBeVital(base, only, this.home)) this.add("irreversible");
    if (isAllBelow || (how === "delete" && /^\*+$/.test(only))) {
      this.#weigh(base, placeOf(base, this.#site.circumstances), how, { isDeep: isAllBelow || terms.isDeep === true });
      if (how === "delete" && this.#isRoot(base)) return this.#note({ how, path, place: "outside" });
    }
    if (how !== "read" && how !== "run") this.#weighOurs(path, how, terms);
    const isSecret = mayBeCredential(path);
    const place = isSecret
      ? "credentials"
      : placeOf(`${base === "/" ? "" : base}/${pattern.replaceAll(/[^\w/]/g, "x")}`, this.#site.circumstances);
    this.#weigh(path, place, how, terms);
    this.#note({ how, path, place });
  }

  /** What follows from touching it. */
  #weigh(path: string, place: Place, how: How, { isDeep = false }: TouchTerms): void {
    const { home, ours } = this.#site.circumstances;
    if (place === "credentials") this.add("credentials");
    if (how === "read" || how === "run") {
      if (place === "ours" || (isDeep && holdsCredentials(path, home))) this.add("credentials");
      return;
    }
    if (place === "ours" || ((isDeep || how === "delete") && holdsOurs(path, ours))) this.add("ours");
    if (isDisk(path)) this.add("irreversible");
    if ((how === "delete" || isDeep) && isVital(path, home)) this.add("irreversible");
    if (how === "write" && OF_GIT.test(path)) this.add("environment");
  }

  /** Whether a pattern may mean what is ours, or what that lies in. */
  #weighOurs(pattern: string, how: How, { isDeep = false }: TouchTerms): void {
    const depth = pattern.split("/").length;
    const { ours } = this.#site.circumstances;
    const isMeant = ours.some(
      (own) => mayReach(pattern, own) && (how === "delete" || isDeep || depth > own.split("/").length),
    );
    if (isMeant) this.add("ours");
  }

  #isRoot(path: string): boolean {
    return this.#site.circumstances.roots.includes(path);
  }

  #note(touch: Touch): void {
    this.#touches.set(`${touch.how} ${touch.place} ${touch.path}`, touch);
  }
}
