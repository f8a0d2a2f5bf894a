/** Menus that are drawn: dialogs, inquirer, clack and their like. */
import { choice, enter, inLocales, type Scenario, secret, text, yesNo } from "./scenario.ts";

/** Modules are found in the directory of `--npm`. */
const js = (code: string): string => `cat >$NPM/demo.mjs <<'X'\n${code}\nX\nnode $NPM/demo.mjs`;
const inquirer = (code: string): string => js(`import * as i from "@inquirer/prompts";\nawait i.${code};`);
const oldInquirer = (code: string): string => js(`import inquirer from "inquirer";\nawait inquirer.prompt([${code}]);`);
const clack = (code: string): string =>
  js(`import * as c from "@clack/prompts";\nc.intro("create-app");\nawait c.${code};`);
const prompts = (code: string): string => js(`import prompts from "prompts";\nawait prompts(${code});`);
const enquirer = (code: string): string => js(`import e from "enquirer";\nawait e.prompt(${code});`);

const ITEMS = `[{name:"npm",value:"npm"},{name:"yarn",value:"yarn"},{name:"pnpm",value:"pnpm"}]`;
const OPTIONS = `[{label:"TypeScript",value:"ts"},{label:"JavaScript",value:"js"},{label:"CoffeeScript",value:"cs",hint:"oh no"}]`;
const TITLES = `[{title:"React",value:"r"},{title:"Vue",value:"v"},{title:"Svelte",value:"s"}]`;
const ARROW = { keys: ["1", "2", "3"], highlighted: "1" };
/** The present item differs in its colour alone. */
const UNSEEN = { keys: ["1", "2", "3"] };
const DOWN = "\x1b[B";

const NODE: readonly Scenario[] = [
  {
    id: "inquirer-select",
    run: inquirer(`select({message:"Which package manager?",choices:${ITEMS}})`),
    asks: [choice(DOWN, ARROW), choice("\r", { keys: ["1", "2", "3"], highlighted: "2" })],
  },
  {
    id: "inquirer-confirm",
    run: inquirer(`confirm({message:"Use TypeScript?"})`),
    asks: [yesNo("\r", { yes: "Y", no: "n", default: "yes" })],
  },
  {
    id: "inquirer-confirm-no",
    run: inquirer(`confirm({message:"Overwrite existing files?",default:false})`),
    asks: [yesNo("\r", { yes: "y", no: "N", default: "no" })],
  },
  { id: "inquirer-input", run: inquirer(`input({message:"Project name:"})`), asks: [text("a\r")] },
  {
    id: "inquirer-input-default",
    run: inquirer(`input({message:"Project name:",default:"my-app"})`),
    asks: [text("\r", { default: "my-app" })],
  },
  { id: "inquirer-number", run: inquirer(`number({message:"How many replicas?"})`), asks: [text("1\r")] },
  {
    id: "inquirer-password",
    run: inquirer(`password({message:"Registry password"})`),
    asks: [secret("abc"), secret("\r")],
  },
  {
    id: "inquirer-password-mask",
    run: inquirer(`password({message:"Enter the token",mask:"*"})`),
    asks: [secret("abc"), secret("\r")],
  },
  {
    id: "inquirer-checkbox",
    run: inquirer(`checkbox({message:"Pick features",choices:${ITEMS}})`),
    asks: [choice(" ", ARROW), choice("\r", ARROW)],
  },
  {
    id: "inquirer-rawlist",
    run: inquirer(`rawlist({message:"Pick one",choices:${ITEMS}})`),
    asks: [choice("2\r", { keys: ["1", "2", "3"] })],
  },
  {
    id: "inquirer-expand",
    run: inquirer(
      `expand({message:"Conflict on f.txt",choices:[{key:"y",name:"Overwrite",value:"o"},{key:"a",name:"All",value:"a"},{key:"x",name:"Abort",value:"x"}]})`,
    ),
    asks: [choice("x\r")],
  },
  {
    id: "inquirer-search",
    run: inquirer(`search({message:"Find a region",source:async()=>${ITEMS}})`),
    asks: [choice()],
  },
  {
    id: "old-inquirer-confirm",
    run: oldInquirer(`{type:"confirm",name:"a",message:"Deploy now?"}`),
    asks: [yesNo("\r", { yes: "Y", no: "n", default: "yes" })],
  },
  {
    id: "old-inquirer-password",
    run: oldInquirer(`{type:"password",name:"a",message:"Database password:"}`),
    asks: [secret()],
  },
  {
    id: "clack-text",
    run: clack(`text({message:"Where should we create your project?",placeholder:"./my-app"})`),
    asks: [text("x\r")],
  },
  { id: "clack-confirm", run: clack(`confirm({message:"Install dependencies?"})`), asks: [yesNo(DOWN), yesNo("\r")] },
  {
    id: "clack-select",
    run: clack(`select({message:"Pick a project type.",options:${OPTIONS}})`),
    asks: [choice(DOWN, ARROW), choice("\r", { keys: ["1", "2", "3"], highlighted: "2" })],
  },
  {
    id: "clack-multiselect",
    run: clack(`multiselect({message:"Select additional tools.",options:${OPTIONS}})`),
    asks: [choice(" ", UNSEEN), choice("\r", UNSEEN)],
  },
  { id: "clack-password", run: clack(`password({message:"Provide a password"})`), asks: [secret("ab"), secret("\r")] },
  {
    id: "prompts-select",
    run: prompts(`{type:"select",name:"a",message:"Select a framework:",choices:${TITLES}}`),
    asks: [choice(DOWN, ARROW), choice("\r", { keys: ["1", "2", "3"], highlighted: "2" })],
  },
  {
    id: "prompts-text",
    run: prompts(`{type:"text",name:"a",message:"Project name:",initial:"vite-project"}`),
    asks: [text("\r", { default: "vite-project" })],
  },
  {
    id: "prompts-confirm",
    run: prompts(
      `{type:"confirm",name:"a",message:"Target directory is not empty. Remove existing files and continue?"}`,
    ),
    asks: [yesNo("n", { yes: "y", no: "N", default: "no" })],
  },
  {
    id: "prompts-toggle",
    run: prompts(
      `{type:"toggle",name:"a",message:"Add ESLint for code quality?",initial:false,active:"Yes",inactive:"No"}`,
    ),
    asks: [yesNo()],
  },
  {
    id: "prompts-multiselect",
    run: prompts(`{type:"multiselect",name:"a",message:"Pick colors",choices:${TITLES}}`),
    asks: [choice("\r")],
  },
  {
    id: "prompts-password",
    run: prompts(`{type:"password",name:"a",message:"Tell me a secret"}`),
    asks: [secret("ab"), secret("\r")],
  },
  {
    id: "prompts-autocomplete",
    run: prompts(`{type:"autocomplete",name:"a",message:"Pick your favorite",choices:${TITLES}}`),
    asks: [choice()],
  },
  {
    id: "enquirer-select",
    run: enquirer(`{type:"select",name:"a",message:"Pick a flavor",choices:["apple","grape","cherry"]}`),
    asks: [choice("\r", ARROW)],
  },
  {
    id: "enquirer-confirm",
    run: enquirer(`{type:"confirm",name:"a",message:"Want to continue?"}`),
    asks: [yesNo("n", { yes: "y", no: "N", default: "no" })],
  },
  {
    id: "enquirer-input",
    run: enquirer(`{type:"input",name:"a",message:"What is your username?"}`),
    asks: [text("x\r")],
  },
  {
    id: "enquirer-password",
    run: enquirer(`{type:"password",name:"a",message:"What is your password?"}`),
    asks: [secret("ab"), secret("\r")],
  },
  {
    id: "npm-init",
    run: "npm init",
    env: { npm_config_update_notifier: "false" },
    asks: [
      text("\r"),
      text("\r", { default: "1.0.0" }),
      text("\r"),
      text("\r", { default: "index.js" }),
      text("\r"),
      text("\r"),
      text("\r"),
      text("\r"),
      text("\r", { default: "ISC" }),
      text("\r"),
      yesNo("\r", { default: "yes" }),
    ],
  },
];

const wt = (rest: string): string => `whiptail --title 'Setup' ${rest}`;
const dlg = (rest: string): string => `dialog --title 'Setup' ${rest}`;
const MENU = `--menu 'Choose a task' 15 50 4 web 'Web server' db 'Database' mail 'Mail server'`;
const RADIO = `--radiolist 'Choose a size' 15 50 4 s small off m medium on l large off`;
const CHECK = `--checklist 'Choose parts' 15 50 4 a docs off b tests on c samples off`;

const DIALOGS: readonly Scenario[] = [
  {
    id: "whiptail-yesno",
    run: wt(`--yesno 'Remove the database?' 8 40`),
    asks: [yesNo("\t", { default: "yes" }), yesNo("\r", { default: "no" })],
  },
  {
    id: "whiptail-yesno-defaultno",
    run: wt(`--defaultno --yesno 'Format the disk?' 8 40`),
    asks: [yesNo("\r", { default: "no" })],
  },
  { id: "whiptail-msgbox", run: wt(`--msgbox 'The installation is complete.' 8 40`), asks: [enter("\r")] },
  { id: "whiptail-inputbox", run: wt(`--inputbox 'Host name' 8 40 web1`), asks: [text("\r")] },
  { id: "whiptail-passwordbox", run: wt(`--passwordbox 'Root password' 8 40`), asks: [secret("ab"), secret("\r")] },
  {
    id: "whiptail-menu",
    run: wt(MENU),
    asks: [
      choice(DOWN, { keys: ["web", "db", "mail"], highlighted: "web" }),
      choice("\r", { keys: ["web", "db", "mail"], highlighted: "db" }),
    ],
  },
  { id: "whiptail-radiolist", run: wt(RADIO), asks: [choice("\r", { keys: ["s", "m", "l"] })] },
  { id: "whiptail-checklist", run: wt(CHECK), asks: [choice("\r", { keys: ["a", "b", "c"] })] },
  {
    id: "dialog-yesno",
    run: dlg(`--yesno 'Remove the database?' 8 40`),
    asks: [yesNo("\t", { default: "yes" }), yesNo("\r", { default: "no" })],
  },
  { id: "dialog-msgbox", run: dlg(`--msgbox 'The installation is complete.' 8 40`), asks: [enter("\r")] },
  { id: "dialog-inputbox", run: dlg(`--inputbox 'Host name' 8 40 web1`), asks: [text("\r")] },
  { id: "dialog-passwordbox", run: dlg(`--passwordbox 'Root password' 8 40`), asks: [secret()] },
  { id: "dialog-menu", run: dlg(MENU), asks: [choice("\r", { keys: ["web", "db", "mail"] })] },
  { id: "dialog-radiolist", run: dlg(RADIO), asks: [choice("\r", { keys: ["s", "m", "l"] })] },
  { id: "dialog-checklist", run: dlg(CHECK), asks: [choice("\r", { keys: ["a", "b", "c"] })] },
  ...inLocales({ id: "whiptail-yesno", run: wt(`--yesno 'Wirklich?' 8 40`), asks: [yesNo("\r", { default: "yes" })] }, [
    "de_DE.UTF-8",
    "fr_FR.UTF-8",
  ]),
];

export const MENUS: readonly Scenario[] = [...NODE, ...DIALOGS];
