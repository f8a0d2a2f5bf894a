import { MemoryDriver } from "./memory-driver.ts";
import { sessionDriverContract } from "./session-driver.contract.ts";

sessionDriverContract(async () => ({
  driver: new MemoryDriver("terminal"),
  echo: "hello",
  answer: "hello",
  end: "exit\r",
}));
