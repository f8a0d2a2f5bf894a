import { describe, expect, test } from "vitest";
import { classifyPrompt, QUIET_MS } from "./classifier.ts";
import type { Classified, Prompt, PromptEvidence, PromptView } from "./prompt.ts";

const LINE: PromptEvidence = { kind: "line", confidence: "high", program: "tool", echo: true, canonical: true };
const RAW: PromptEvidence = { kind: "line_editor", confidence: "high", program: "node", echo: false, canonical: false };
const SECRET: PromptEvidence = { ...LINE, kind: "password", echo: false };
const BLIND: PromptEvidence = { kind: "opaque", confidence: "low", program: "ssh", quietMs: 5_000 };

const viewOf = (text: string): PromptView => ({ lines: text.split("\n") });
const classify = (text: string, evidence = LINE): Classified => classifyPrompt(viewOf(text), evidence);
function promptOf(text: string, evidence = LINE): Prompt {
  const found = classify(text, evidence);
  if (!found.asked) throw new Error(`not asked: ${found.reason}`);
  return found.prompt;
}
const literals = ({ choices }: Prompt): (string | undefined)[] => choices.map(({ types }) => types);

describe("secrets", () => {
  test.each(["Continue? [y/N] ", "1) a\n2) b\nChoose: ", "", "Press Enter to continue", "> "])(
    "[PMT-2] lines read without echo are a password below %j",
    (text) => {
      expect(promptOf(text, SECRET)).toMatchObject({ class: "PASSWORD_INPUT", confidence: "HIGH", choices: [] });
    },
  );

  test("[PMT-2] the modes alone are enough, whatever kind was told", () => {
    expect(promptOf("Name: ", { ...LINE, echo: false }).class).toBe("PASSWORD_INPUT");
  });

  test.each([
    "[sudo] password for alice: ",
    "Enter passphrase for key '/home/u/.ssh/id_rsa': ",
    "Password for user postgres: ",
    "AWS Secret Access Key [None]: ",
    "Enter PEM pass phrase:",
    "GitHub token: ",
    "Verification code: ",
    "Passwort für alice: ",
    "Mot de passe : ",
    "Contraseña: ",
    "パスワード: ",
    "请输入密码：",
  ])("[PMT-3] %j asks for a secret also where it is echoed", (text) => {
    expect(promptOf(text)).toMatchObject({ class: "PASSWORD_INPUT", choices: [] });
    expect(promptOf(text, BLIND)).toMatchObject({ class: "PASSWORD_INPUT", confidence: "MED" });
  });

  test.each([
    "Type your password and press Enter: ",
    "Enter your PIN and press Enter",
    "Password rules:\n1. At least 8 characters\n2. One digit\nChoose a password: ",
    "Please type 'yes', 'no' or the fingerprint: yes\n[sudo] password for ann: ",
    "Only 'yes' will be accepted.\nEnter your API token: ",
    " 1. Push to XXX-1234\n 2. Phone call to XXX-1234\n\nPasscode or option (1-2): ",
  ])("[PMT-25] %j asks for a secret, not for Enter, a choice or a yes", (text) => {
    expect(promptOf(text, RAW)).toMatchObject({ class: "PASSWORD_INPUT", choices: [] });
    expect(promptOf(text, BLIND)).toMatchObject({ class: "PASSWORD_INPUT", confidence: "MED" });
    expect(promptOf(text)).toMatchObject({ class: "PASSWORD_INPUT", choices: [] });
  });

  test.each([
    ["Rules:\n1. At least 8 characters\n2. One digit\nChoose a password:\n> ", "PASSWORD_INPUT"],
    ["How to log in?\n1) Password\n2) API token\n", "NUMBERED_CHOICE"],
    ["How to log in?\n1) Password\n2) API token\n> ", "NUMBERED_CHOICE"],
    ["1) Password\n2) API token\nYour choice: ", "NUMBERED_CHOICE"],
  ])("[PMT-25] what is asked counts, not what an item names: %j is %s", (text, given) => {
    expect(promptOf(text).class).toBe(given);
    expect(promptOf(text, RAW).class).toBe(given);
  });

  test.each([
    ["Enter file in which to save the key (/root/.ssh/id_ed25519): ", "FREE_TEXT"],
    ["Minimum Password Age [0]: ", "FREE_TEXT"],
    ["Save the password? [y/N] ", "YES_NO"],
    ["Path to the private key: ", "FREE_TEXT"],
    ["Press any key to continue", "CONFIRM_ENTER"],
  ])("[PMT-4] %j is about a secret or a key, and none", (text, given) => {
    expect(promptOf(text).class).toBe(given);
  });
});

describe("yes and no", () => {
  test.each([
    ["Continue? [Y/n] ", "Y", "n", "yes"],
    ["Continue? (y/N) ", "y", "N", "no"],
    ["Continue? (y/n) ", "y", "n", undefined],
    ["Continue y/N ", "y", "N", "no"],
    ["Continue? [y] [n] ", "y", "n", undefined],
    ["Pending? (y or [n]) ", "y", "n", "no"],
    ["Remove it? [Y]es/[N]o: ", "Y", "N", undefined],
    ["Proceed anyway? (y,N) ", "y", "N", "no"],
    ["Fix<y>? ", "y", "n", "yes"],
    ["Is this OK? (yes) ", "yes", "no", "yes"],
    ["Is this ok [y/d/N]: ", "y", "N", "no"],
    ["Yes/No? ", "Yes", "No", undefined],
    ["Delete (yes/no)? ", "yes", "no", undefined],
    ["Remove the volume vg/home? [y/n]: ", "y", "n", undefined],
    ["Fortfahren? [J/n] ", "J", "n", "yes"],
    ["Continuer ? [O/n] ", "O", "n", "yes"],
    ["¿Continuar? [S/n] ", "S", "n", "yes"],
  ])("[PMT-5] %j wants %s or %s", (text, yes, no, preset) => {
    const prompt = promptOf(text);
    expect(prompt).toMatchObject({ class: "YES_NO", confidence: "HIGH" });
    expect([prompt.choices[0]?.types, prompt.choices[1]?.types, prompt.default]).toEqual([yes, no, preset]);
  });

  test("[PMT-5] ssh's question for a host key names all it takes", () => {
    expect(promptOf("Are you sure you want to continue connecting (yes/no/[fingerprint])? ")).toMatchObject({
      class: "YES_NO",
      accepts: ["yes", "no", "[fingerprint]"],
    });
  });

  test.each([
    ["  Only 'yes' will be accepted to approve.\n\n  Enter a value: ", "yes"],
    ["Are you sure? (Type 'yes' in capital letters): ", "YES"],
    ["Type 'yes' to continue, or 'no' to cancel: ", "yes"],
  ])("[PMT-6] %j is answered by the literal it insists on", (text, yes) => {
    expect(promptOf(text)).toMatchObject({
      class: "YES_NO",
      choices: [
        { key: "yes", types: yes },
        { key: "no", types: "no" },
      ],
    });
  });

  test.each([
    "Type 'yes' to accept the license: yes\nInstallation directory [/opt/x]: ",
    "? Type 'yes' to confirm yes\n? Installation directory: ",
    "Please type 'yes', 'no' or the fingerprint: SHA256:abcdef\nYour name: ",
  ])("[PMT-6] a literal that was given is no longer insisted on: %j", (text) => {
    expect(promptOf(text).class).toBe("FREE_TEXT");
    expect(promptOf(text, RAW).class).toBe("FREE_TEXT");
  });

  test.each([
    "Are you sure? ",
    "Do you want to delete it? ",
    "続行しますか? ",
    "您希望继续执行吗？ ",
    "Möchten Sie fortfahren? ",
  ])("[PMT-7] %j asks for consent", (text) => {
    expect(promptOf(text)).toMatchObject({ class: "YES_NO", confidence: "MED" });
    expect(literals(promptOf(text))).toEqual(["y", "n"]);
  });

  test.each(["Which file do you want to delete? ", "Where should it go? ", "How many do you want to keep? "])(
    "[PMT-7] %j does not",
    (text) => {
      expect(promptOf(text).class).toBe("FREE_TEXT");
    },
  );
});

describe("menus", () => {
  const agent = "Do you want to proceed?\n❯ 1. Yes\n  2. Yes, and don't ask again\n  3. No, tell me more (esc)";

  test("[PMT-8, PMT-10] a coding agent's permission menu is a menu with its highlight, not yes/no", () => {
    expect(promptOf(agent, RAW)).toMatchObject({
      class: "NUMBERED_CHOICE",
      confidence: "HIGH",
      question: "Do you want to proceed?",
      entry: "arrows",
      choices: [{ key: "1", label: "Yes", highlighted: true }, { key: "2" }, { key: "3" }],
    });
  });

  const wrapped = (pointed: number): string[] => [
    " Do you want to proceed?",
    ...[
      "1. Yes",
      "2. Yes, and don't ask again in",
      "      /home/u/project",
      "3. No, and tell what to do",
      "      differently",
    ].map((line) => (line.startsWith(" ") ? line : ` ${line.startsWith(`${pointed}`) ? "❯" : " "} ${line}`)),
    "",
    " Esc to cancel",
  ];

  test.each([1, 2, 3])(
    "[PMT-26] a menu whose labels go on in the next line is whole with the highlight on %i",
    (pointed) => {
      const view = { lines: wrapped(pointed), cursor: { row: 6, column: 0 } };
      const labels = ["Yes", "Yes, and don't ask again in /home/u/project", "No, and tell what to do differently"];
      const choices = labels.map((label, index) => ({
        key: `${index + 1}`,
        label,
        ...(index + 1 === pointed && { highlighted: true }),
      }));
      expect(classifyPrompt(view, { ...RAW, kind: "tui" })).toMatchObject({ asked: true, prompt: { choices } });
      expect(classifyPrompt(view, RAW)).toMatchObject({ asked: true, prompt: { choices } });
      expect(classifyPrompt(view, BLIND)).toMatchObject({ asked: true, prompt: { choices } });
    },
  );

  test("[PMT-26] what explains an item is no item, also at the same column", () => {
    const menu = "? Pick\n❯ 1. Fast\n  no checks\n\n  2. Safe\n  all checks\n  3. None";
    expect(promptOf(menu, RAW).choices).toEqual([
      { key: "1", label: "Fast no checks", highlighted: true },
      { key: "2", label: "Safe all checks" },
      { key: "3", label: "None" },
    ]);
  });

  test("[PMT-8, PMT-24] a consent above a typed menu is its title", () => {
    expect(promptOf("Do you want to proceed?\n1) Yes\n2) No\n#? ")).toMatchObject({
      class: "NUMBERED_CHOICE",
      question: "Do you want to proceed?",
    });
  });

  test("[PMT-24] what was asked and answered before a menu is not its title", () => {
    expect(promptOf("Go on? [y/N] y\n1) red\n2) green\n#? ")).toMatchObject({
      class: "NUMBERED_CHOICE",
      question: "#?",
    });
  });

  test("[PMT-18] a menu that was answered is none for what reads after it without a word", () => {
    const menu = "1) red\n2) green\n#? 2\nGOT green.\n";
    expect(promptOf(menu).class).toBe("FREE_TEXT");
    expect(promptOf("1) red\n2) green\n").class).toBe("NUMBERED_CHOICE");
  });

  test("[PMT-88] steps below a plan's heading are no menu when nothing is asked; below a menu's they are", () => {
    const steps = "1. Add a test\n2. Fix the parser\n3. Run the tests\n";
    expect(promptOf(`Here is my plan:\n\n${steps}`, RAW).class).toBe("CHAT_INPUT");
    expect(promptOf(`Here is my plan:\n\n${steps}Which step? `).class).toBe("NUMBERED_CHOICE");
    expect(promptOf(`What is next:\n${steps}`).class).toBe("NUMBERED_CHOICE");
  });

  test.each([
    ["1) a\n2) b\nSelect: ", ["1", "2"], undefined],
    ["[1] a\n[2] b\nYour choice: ", ["1", "2"], undefined],
    ["   1: clean    2: filter    3: quit\nWhat now> ", ["1", "2", "3"], undefined],
    ["a) x\nb) y\n> ", ["a", "b"], undefined],
    ["1) s\n2) m\nSize [2]: ", ["1", "2"], "2"],
    ["*** f (Y/I/N/O/D/Z) [default=N] ? ", ["Y", "I", "N", "O", "D", "Z"], "N"],
    ["Stage this hunk [y,n,q,a,d,e,?]? ", ["y", "n", "q", "a", "d", "e", "?"], undefined],
    ["Change (N)ame, (C)omment, (E)mail or (O)kay/(Q)uit? ", ["N", "C", "E", "O", "Q"], undefined],
    ["n) New\ns) Set\nq) Quit\nn/s/q> ", ["n", "s", "q"], undefined],
  ])("[PMT-9] %j has the keys %j", (text, keys, preset) => {
    const prompt = promptOf(text);
    expect([prompt.class, prompt.choices.map(({ key }) => key), prompt.default]).toEqual([
      "NUMBERED_CHOICE",
      keys,
      preset,
    ]);
  });

  test("[PMT-10] check boxes tell their state, and an unseen highlight is not made up", () => {
    expect(promptOf("? Pick\n❯◉ a\n ◯ b", RAW)).toMatchObject({
      multiple: true,
      choices: [{ checked: true, highlighted: true }, { checked: false }],
    });
    expect(promptOf("◆  Pick\n│  ◼ a\n│  ◻ b\n└", RAW).choices).toEqual([
      { key: "1", label: "a", checked: true },
      { key: "2", label: "b", checked: false },
    ]);
  });

  test("[PMT-11] the cursor says which button of a box has the focus", () => {
    const lines = ["┌──── Setup ────┐", "│ Remove it?    │", "│  <Yes>  <No>  │", "└───────────────┘"];
    const found = classifyPrompt(
      { lines, cursor: { row: 2, column: 10 } },
      { ...RAW, kind: "tui", program: "whiptail" },
    );
    expect(found).toMatchObject({
      prompt: { class: "YES_NO", entry: "buttons", default: "no", question: "Remove it?" },
    });
  });
});

describe("the rest", () => {
  test.each([
    "Press ENTER to continue",
    "Press any key to continue",
    "--More--(7%)",
    "Appuyez sur Entrée pour continuer...",
    "按回车键继续...",
  ])("[PMT-12] %j only wants a key", (text) => {
    expect(promptOf(text).class).toBe("CONFIRM_ENTER");
  });

  test("[PMT-12] a pager goes on with Enter and is left with q", () => {
    expect(promptOf("(END)", { ...RAW, kind: "pager" })).toMatchObject({
      class: "CONFIRM_ENTER",
      default: "q",
      entry: "key",
    });
  });

  test.each([
    ["Project name: ", undefined],
    ["Port [8080]: ", "8080"],
    ["Region (default: eu-west-1): ", "eu-west-1"],
    ["Partition number (1-4, default 1): ", "1"],
    ["Shell [/bin/bash]: ", "/bin/bash"],
  ])("[PMT-13] %j is text with the default %j", (text, preset) => {
    expect(promptOf(text)).toMatchObject({ class: "FREE_TEXT" });
    expect(promptOf(text).default).toBe(preset);
  });

  test.each([">>> ", "sqlite> ", "(gdb) ", "shop=# ", "In [1]: "])(
    "[PMT-14] %j takes text and asks nothing",
    (text) => {
      expect(promptOf(text, RAW).class).toBe("CHAT_INPUT");
    },
  );

  test.each([
    ["alice@web1:~$ ", { ...RAW, program: "bash" }],
    ["~/src main ❯ ", { ...RAW, program: "zsh" }],
    ["# ", { ...LINE, program: "dash" }],
    ["root@web1:/etc# ", BLIND],
    ["anything", { ...RAW, kind: "shell" } as const],
  ])("[PMT-15] %j is a shell's prompt", (text, evidence) => {
    expect(classify(text, evidence)).toEqual({ asked: false, reason: "shell_prompt" });
  });

  test("[PMT-16] an editor and a program that fills the screen ask nothing", () => {
    expect(classify("~\n-- INSERT --", { ...RAW, kind: "editor" })).toEqual({ asked: false, reason: "screen_program" });
    expect(classify("Hint: press Tab\nfile: ", { ...RAW, kind: "tui" })).toEqual({
      asked: false,
      reason: "screen_program",
    });
  });

  test("[PMT-17] where nobody can look, a question needs its quiet", () => {
    const text = "Continue? [Y/n] ";
    expect(classify(text, { ...BLIND, quietMs: QUIET_MS - 1 })).toEqual({ asked: false, reason: "still_printing" });
    expect(promptOf(text, { ...BLIND, quietMs: QUIET_MS })).toMatchObject({ class: "YES_NO", confidence: "MED" });
  });

  test.each([
    "Proceeding? no\n",
    "10:00:00 INFO Continue? [y/N] ",
    'x = input("Continue? [y/N] ")',
    "Downloading 45% [==>   ]",
    "The menu:\n❯ 1. Yes\n  2. No\n",
    "Select an option:\n",
  ])("[PMT-18] %j is no question", (text) => {
    expect(classify(text, BLIND)).toEqual({ asked: false, reason: "not_a_prompt" });
  });

  test.each([
    ["Continue? [Y/n] ", LINE, "HIGH"],
    ["Name: ", LINE, "MED"],
    ["Continue? [Y/n] ", BLIND, "MED"],
    ["Enter your name: ", BLIND, "LOW"],
  ] as const)("[PMT-19] %j is as sure as form and evidence are", (text, evidence, confidence) => {
    expect(promptOf(text, evidence).confidence).toBe(confidence);
  });

  test.each([
    ["Name: ", LINE, "line"],
    ["Name: ", RAW, "keys"],
    ["Press any key", RAW, "key"],
    ["Continue? [Y/n] ", BLIND, "line"],
  ] as const)("[PMT-22] %j is entered as its program reads", (text, evidence, entry) => {
    expect(promptOf(text, evidence).entry).toBe(entry);
  });

  test("[PMT-24] a question is cut to its end", () => {
    expect(promptOf(`${"x".repeat(500)}? `).question.length).toBeLessThanOrEqual(300);
  });
});
