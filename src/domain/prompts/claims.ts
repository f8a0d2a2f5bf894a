/** Questions that say who asks. A text can be printed by anybody; who reads the answer is the kernel's word. Rule PMT-102. */
type Claim = { readonly says: RegExp; readonly name: string; readonly programs: RegExp };

const SSH =
  /^(?:ssh|scp|sftp|slogin|ssh-add|ssh-keygen|ssh-askpass|git|git-remote-.*|rsync|mosh|mosh-client|autossh)$/u;

const CLAIMS: readonly Claim[] = [
  { says: /^\s*\[sudo\b/iu, name: "sudo", programs: /^(?:sudo|sudo-rs|sudoedit|visudo)$/u },
  { says: /^\s*doas \(/iu, name: "doas", programs: /^doas$/u },
  { says: /^\s*\S+@\S+'s password:/u, name: "ssh", programs: SSH },
  { says: /^\s*enter passphrase for key\b/iu, name: "ssh", programs: SSH },
  { says: /continue connecting \(yes\/no/iu, name: "ssh", programs: SSH },
  { says: /^\s*(?:username|password) for 'https?:/iu, name: "git", programs: /^git(?:-.*)?$/u },
];

/** More names that people give a password to without a second look. */
const TRUSTED = /^(?:su|passwd|login|pkexec)$/u;

/** Whether people trust who is called so; anybody can call a program so. */
export function isTrustedName(program: string): boolean {
  return TRUSTED.test(program) || CLAIMS.some(({ programs }) => programs.test(program));
}

/** What to tell a person who is about to answer; undefined where nothing is claimed, or it is true. */
export function claimWarning(question: string, program: string): string | undefined {
  // Nobody could look: nothing speaks against it.
  if (program === "") return undefined;
  const claim = CLAIMS.find(({ says }) => says.test(question));
  if (claim === undefined || claim.programs.test(program)) return undefined;
  return `The question looks like one of ${claim.name}, but ${program} would read the answer.`;
}
