/** Deliberate faults in what waits for programs and talks in chats. */
import type { Mutant } from "./mutant.ts";

export const CHAT_MUTANTS: readonly Mutant[] = [
  {
    name: "silence goes on though something happened",
    file: "src/host/terminal/quiet-clock.ts",
    text: "this.#stirredAt = this.#time.now();",
    becomes: "this.#stirredAt ||= this.#time.now();",
    tests: ["src/host/terminal/quiet-clock.test.ts"],
  },
  {
    name: "output goes to chats as soon as it comes",
    file: "src/domain/prompts/output-batch.ts",
    text: "at - batch.since >= batchMs",
    becomes: "at >= batch.since",
    tests: ["src/domain/prompts/output-batch.test.ts"],
  },
  {
    name: "what waits is typed while another message is",
    file: "src/domain/conversation.ts",
    text: "if (delivering === true) return accept([]);",
    becomes: "",
    tests: ["src/domain/conversation", "test/channels/queue.test.ts"],
  },
  {
    name: "a program that has settled once has settled for ever",
    file: "src/hub/conversation-desk.ts",
    text: 'return { type: "printed", sessionId };',
    becomes: "return undefined;",
    tests: ["test/prompts/conversations.test.ts"],
  },
];
