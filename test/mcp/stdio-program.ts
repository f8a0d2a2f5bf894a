/** `sidestick mcp` with operations of its own, and a noisy one: what a program prints must not reach the client. */
import { runMcpStdio } from "../../src/main/mcp-stdio.ts";

await runMcpStdio({
  version: "1.2.3",
  role: "agent",
  call: async (name, _input, { signal }) => {
    console.log("a stray line");
    if (name !== "event.list") return { role: "agent", kind: "agent", id: "agent-1" };
    return new Promise((_resolve, reject) => {
      console.error("waiting");
      signal.addEventListener("abort", () => {
        console.error("told of the end");
        reject(signal.reason);
      });
    });
  },
});
console.error("ended");
