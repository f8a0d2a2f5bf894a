/** Package managers and set-up programs. Everything is answered with no, or ended before it does anything. */
import { choice, enter, inLocales, type Scenario, text, yesNo } from "./scenario.ts";

const YES = { default: "yes" };
/** Without the machine's own list of sources. */
const APT = "-o Dir::Etc::sourceparts=-";
const REMOVE = `apt-get ${APT} remove tnftp telnet`;
const CONFFILE = `
mkdir -p p/DEBIAN p/etc root/var/lib/dpkg/info root/var/lib/dpkg/updates root/var/lib/dpkg/triggers; touch root/var/lib/dpkg/status
control() { printf 'Package: demo\\nVersion: %s\\nArchitecture: all\\nMaintainer: A <a@b.example>\\nDescription: demo\\n' $1 >p/DEBIAN/control; echo /etc/demo.conf >p/DEBIAN/conffiles; echo $1 >p/etc/demo.conf; dpkg-deb -b p $1.deb >/dev/null; }
control 1; dpkg --root=$PWD/root --force-script-chrootless -i 1.deb >/dev/null; echo mine >>root/etc/demo.conf; control 2
dpkg --root=$PWD/root --force-script-chrootless -i 2.deb`;
const KEYS = { keys: ["Y", "I", "N", "O", "D", "Z"], default: "N" };
/** A question of debconf itself, in its plain front end and in dialogs. */
const debconf = (frontend: string, db = "select"): string => `
cat >t <<'X'
Template: demo/select
Type: select
Choices: none, local only, internet site
Default: local only
Description: General type of mail configuration:
 Please select the configuration that suits you.

Template: demo/boolean
Type: boolean
Default: false
Description: Remove the old data?
 It can't be brought back.

Template: demo/string
Type: string
Default: example.org
Description: System mail name:
 The domain of addresses without one.

Template: demo/password
Type: password
Description: Administrator's password:
 Leave it empty to keep it.

Template: demo/note
Type: note
Description: The service was moved
 It lives elsewhere now.

Template: demo/multi
Type: multiselect
Choices: english, german, french
Description: Languages to install:
 Choose some.
X
cat >c <<'X'
#!/bin/sh -e
. /usr/share/debconf/confmodule
db_x_loadtemplatefile /tmp/prompts-demo/t demo
db_input critical demo/${db}
db_go
X
export DEBIAN_FRONTEND=${frontend} DEBIAN_PRIORITY=low DEBCONF_SYSTEMRC=$PWD/rc
cat >rc <<X
Config: c
Templates: t

Name: c
Driver: File
Filename: $PWD/c.dat

Name: t
Driver: File
Filename: $PWD/t.dat
X
chmod +x c; debconf -f${frontend} -plow -odemo ./c`;

const MENU = { keys: ["1", "2", "3"] };

export const INSTALLERS: readonly Scenario[] = [
  { id: "apt-remove", run: REMOVE, asks: [yesNo("n\r", { yes: "Y", no: "n", default: "yes" })] },
  ...inLocales({ id: "apt-remove", run: REMOVE, asks: [yesNo("n\r", YES)] }, [
    "de_DE.UTF-8",
    "fr_FR.UTF-8",
    "es_ES.UTF-8",
    "ja_JP.UTF-8",
    "zh_CN.UTF-8",
    "it_IT.UTF-8",
    "pt_BR.UTF-8",
  ]),
  { id: "apt", run: `apt ${APT} remove tnftp`, asks: [yesNo("n\r", { yes: "Y", no: "n", default: "yes" })] },
  ...inLocales({ id: "apt", run: `apt ${APT} remove tnftp`, asks: [yesNo("n\r", YES)] }, [
    "de_DE.UTF-8",
    "ja_JP.UTF-8",
  ]),
  { id: "apt-essential", run: `apt-get ${APT} remove --allow-remove-essential hostname`, asks: [yesNo()] },
  ...inLocales(
    { id: "apt-essential", run: `apt-get ${APT} remove --allow-remove-essential hostname`, asks: [yesNo()] },
    ["de_DE.UTF-8"],
  ),
  { id: "dpkg-conffile", run: CONFFILE, asks: [choice("D\r", KEYS), choice("N\r", KEYS)] },
  ...inLocales({ id: "dpkg-conffile", run: CONFFILE, asks: [choice("N\r", { default: "N" })] }),
  { id: "debconf-select", run: debconf("readline"), asks: [choice("2\r", MENU)] },
  { id: "debconf-boolean", run: debconf("readline", "boolean"), asks: [yesNo("n\r", { yes: "yes", no: "no" })] },
  { id: "debconf-string", run: debconf("readline", "string"), asks: [text("\r")] },
  { id: "debconf-password", run: debconf("readline", "password"), asks: [{ expect: { class: "PASSWORD_INPUT" } }] },
  { id: "debconf-multi", run: debconf("readline", "multi"), asks: [choice("1\r", MENU)] },
  ...inLocales({ id: "debconf-boolean", run: debconf("readline", "boolean"), asks: [yesNo()] }, [
    "de_DE.UTF-8",
    "fr_FR.UTF-8",
    "es_ES.UTF-8",
  ]),
  { id: "debconf-dialog-select", run: debconf("dialog"), asks: [choice("\r")] },
  { id: "debconf-dialog-boolean", run: debconf("dialog", "boolean"), asks: [yesNo("\r", { default: "no" })] },
  { id: "debconf-dialog-string", run: debconf("dialog", "string"), asks: [text("\r")] },
  {
    id: "debconf-dialog-password",
    run: debconf("dialog", "password"),
    asks: [{ expect: { class: "PASSWORD_INPUT" } }],
  },
  { id: "debconf-dialog-note", run: debconf("dialog", "note"), asks: [enter("\r")] },
  { id: "tzselect", run: "tzselect", asks: [choice("2\r"), choice("1\r")] },
  {
    id: "pip-uninstall",
    run: "python3 -m venv v && v/bin/pip uninstall pip",
    asks: [yesNo("n\r", { yes: "Y", no: "n", default: "yes" })],
  },
  { id: "docker-prune", run: "docker system prune", asks: [yesNo("n\r", { yes: "y", no: "N", default: "no" })] },
  { id: "docker-volume-prune", run: "docker volume prune", asks: [yesNo("n\r", { yes: "y", no: "N", default: "no" })] },
  { id: "crontab-ri", run: "echo '# x' | crontab -; crontab -ri", asks: [yesNo("n\r", { yes: "y", no: "n" })] },
  { id: "select-editor", run: "select-editor", asks: [choice()] },
  { id: "visudo", run: "printf 'bad line\\n' >s; EDITOR=/bin/true visudo -f s", asks: [text("\r")] },
  { id: "cpan", run: "cpan", asks: [yesNo("no\r", { yes: "yes", default: "yes" })] },
  {
    id: "terraform-like",
    run: `cat <<'X'

Plan: 3 to add, 0 to change, 1 to destroy.

Do you want to perform these actions?
  Terraform will perform the actions described above.
  Only 'yes' will be accepted to approve.

X
read -r -p '  Enter a value: ' x`,
    asks: [yesNo("no\r", { yes: "yes", no: "no" })],
  },
  {
    id: "certbot-like",
    run: `cat <<'X'
Which names would you like to activate HTTPS for?
- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
1: example.org
2: www.example.org
- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
X
read -r -p 'Select the appropriate numbers separated by commas and/or spaces, or leave input blank to select all options shown (Enter '"'c'"' to cancel): ' x`,
    asks: [choice("1\r", { keys: ["1", "2"] })],
  },
];
