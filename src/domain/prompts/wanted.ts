import type { PromptClass } from "./prompt.ts";

/** What a program asks for, in words: "sudo asks for a secret". */
export const WANTED: Readonly<Record<PromptClass, string>> = {
  YES_NO: "yes or no",
  CONFIRM_ENTER: "Enter",
  NUMBERED_CHOICE: "a choice",
  FREE_TEXT: "text",
  PASSWORD_INPUT: "a secret",
  CHAT_INPUT: "anything",
  FOLDER_TRUST: "whether a folder is trusted",
  RAW_TERMINAL: "something that only shows in the terminal",
};
