import { expect, test } from "vitest";
import { commandOf, saidBy } from "./commands.ts";

test.each([
  { text: "/stop", command: { name: "stop", argument: "" } },
  { text: " !STOP ", command: { name: "stop", argument: "" } },
  { text: "/use@test_bot 3", command: { name: "use", argument: "3" } },
  { text: "/grant  5 ", command: { name: "grant", argument: "5" } },
  { text: "/compact", command: undefined },
  { text: "/etc/hosts", command: undefined },
  { text: "//stop", command: undefined },
  { text: "stop", command: undefined },
  { text: "/toString", command: undefined },
])("[CHN-124] $text is a command only if we know it", ({ text, command }) => {
  expect(commandOf(text)).toEqual(command);
});

test("[CHN-125] a doubled slash says a command's name to the program; everything else is said as it is", () => {
  expect(["//stop", "//etc", "/compact", " x "].map(saidBy)).toEqual(["/stop", "//etc", "/compact", " x "]);
});
