import { defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import { printable } from "../printable.ts";

export const loginLink = defineCommand({
  name: "login-link",
  summary: "Print a link that logs one browser in, once, within ten minutes",
  examples: ["sidestick login-link"],
  run: async ({ client, values, terminal }) => {
    const link = await client.login.link();
    if (values.json === true) terminal.printJson(link);
    else terminal.print(printable(link.url));
    return EXIT.ok;
  },
});
