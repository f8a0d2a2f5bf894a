import { defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import { printable } from "../printable.ts";

export const loginLink = defineCommand({
  name: "login-link",
  summary: "Print a link that logs one browser in, once, within ten minutes",
  options: {
    viewer: { type: "string", value: "NAME", help: "for somebody who only looks: who that is (default: for you)" },
  },
  examples: ["sidestick login-link", "sidestick login-link --viewer guest"],
  run: async ({ client, values, terminal }) => {
    const { viewer } = values;
    const link = await client.login.link(viewer === undefined ? {} : { role: "viewer", name: viewer });
    if (values.json === true) terminal.printJson(link);
    else terminal.print(printable(link.url));
    return EXIT.ok;
  },
});
