/** What asks for passwords, passphrases and keys, with the questions around them. */
import { choice, chat, inLocales, type Scenario, secret, step, text, yesNo } from "./scenario.ts";

const SSHD = [
  "mkdir -p s; chmod 700 s; ssh-keygen -q -t ed25519 -N '' -f s/host",
  "PORT=$(python3 -c \"import socket;s=socket.socket();s.bind(('127.0.0.1',0));print(s.getsockname()[1])\")",
  "mkdir -p /run/sshd; /usr/sbin/sshd -D -p $PORT -o ListenAddress=127.0.0.1 -h $PWD/s/host -o PidFile=none -o UsePAM=no -o KbdInteractiveAuthentication=no & PID=$!",
  "trap 'kill $PID' EXIT; sleep 0.7; SSH=\"-F /dev/null -o UserKnownHostsFile=$PWD/s/known -o PubkeyAuthentication=no -p $PORT\"",
].join("\n");

const AS_ALICE = "runuser -u alice --pty -- env LANG=$LANG LC_ALL=$LC_ALL LANGUAGE=${LANGUAGE:-}";
const FTP_SERVER = `python3 - <<'X' &
import socket
s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); open('port','w').write(str(s.getsockname()[1]))
c,_=s.accept(); c.send(b'220 ready\\r\\n'); f=c.makefile()
for l in f:
    c.send(b'331 need password\\r\\n' if l.startswith('USER') else b'530 no\\r\\n')
X
until [ -s port ]; do sleep 0.1; done; trap "kill $!" EXIT`;
const HTTP_SERVER = `python3 - <<'X' &
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(401); self.send_header('WWW-Authenticate','Basic realm="x"'); self.end_headers()
    do_PUT = do_POST = do_GET
    def log_message(self, *a): pass
s=http.server.HTTPServer(('127.0.0.1',0),H); open('port','w').write(str(s.server_port)); s.serve_forever()
X
until [ -s port ]; do sleep 0.1; done; trap "kill $!" EXIT`;

const REMOTE: readonly Scenario[] = [
  {
    id: "ssh",
    run: `${SSHD}\nssh $SSH alice@127.0.0.1`,
    asks: [yesNo("yes\r", { yes: "yes", no: "no" }), secret("wrong\r"), secret("wrong\r")],
  },
  {
    id: "ssh-retype",
    run: `${SSHD}\nssh $SSH alice@127.0.0.1`,
    asks: [yesNo("y\r"), yesNo("no\r", { yes: "yes", no: "no" })],
  },
  {
    id: "ssh-changed-askpass",
    run: `${SSHD}\nssh $SSH -o StrictHostKeyChecking=accept-new alice@localhost`,
    asks: [secret("wrong\r")],
  },
  {
    id: "sftp-password",
    run: `${SSHD}\nsftp -F /dev/null -o UserKnownHostsFile=$PWD/s/known -o StrictHostKeyChecking=no -o PubkeyAuthentication=no -P $PORT alice@127.0.0.1`,
    asks: [secret()],
  },
  {
    id: "scp-password",
    run: `${SSHD}\ntouch a; scp -F /dev/null -o UserKnownHostsFile=$PWD/s/known -o StrictHostKeyChecking=no -o PubkeyAuthentication=no -P $PORT a alice@127.0.0.1:`,
    asks: [secret()],
  },
  {
    id: "ssh-remote-shell",
    run: `${SSHD}\nssh $SSH -o StrictHostKeyChecking=no alice@127.0.0.1`,
    asks: [
      secret("wonderland\r"),
      { expect: { class: "NONE" }, answer: "read -p 'Really restart? [y/N] ' x\r" },
      yesNo("n\r", { yes: "y", no: "N", default: "no" }),
      step("sudo -k id\r"),
      secret("\x03"),
      step("passwd\r"),
      secret(),
    ],
  },
  {
    id: "ssh-add",
    run: "ssh-keygen -q -t ed25519 -N sesame -f id; ssh-agent ssh-add id",
    asks: [secret("x\r"), secret("\r")],
  },
  { id: "ssh-keygen", run: "ssh-keygen -t ed25519", asks: [text("k\r"), secret("sesame\r"), secret("sesame\r")] },
  {
    id: "ssh-keygen-overwrite",
    run: "ssh-keygen -q -N '' -f k; ssh-keygen -f k",
    asks: [yesNo("n\r", { yes: "y", no: "n" })],
  },
  {
    id: "ssh-keygen-p",
    run: "ssh-keygen -q -N sesame -f k; ssh-keygen -p -f k",
    asks: [secret("sesame\r"), secret("s2\r")],
  },
  { id: "ssh-keygen-y", run: "ssh-keygen -q -N sesame -f k; ssh-keygen -y -f k", asks: [secret()] },
  { id: "ftp-login", run: `${FTP_SERVER}\ntnftp 127.0.0.1 $(cat port)`, asks: [text("alice\r"), secret("x\r")] },
  {
    id: "git-https",
    run: `${HTTP_SERVER}\ngit clone http://127.0.0.1:$(cat port)/r.git`,
    asks: [text("alice\r"), secret("x\r")],
  },
  ...inLocales(
    {
      id: "git-https",
      run: `${HTTP_SERVER}\ngit clone http://127.0.0.1:$(cat port)/r.git`,
      asks: [text("alice\r"), secret("x\r")],
    },
    ["de_DE.UTF-8"],
  ),
  {
    id: "npm-login",
    run: `${HTTP_SERVER}\nnpm login --auth-type=legacy --registry=http://127.0.0.1:$(cat port)/`,
    asks: [text("alice\r"), secret("x\r")],
  },
  { id: "curl", run: "curl -u alice http://127.0.0.1:1/", asks: [secret()] },
  { id: "wget", run: "wget --user=alice --ask-password http://127.0.0.1:1/", asks: [secret()] },
  ...inLocales({ id: "wget", run: "wget --user=alice --ask-password http://127.0.0.1:1/", asks: [secret()] }),
  { id: "lftp-login", run: `${FTP_SERVER}\nlftp -u alice 127.0.0.1:$(cat port)`, asks: [secret()] },
  { id: "docker-login", run: "docker login 127.0.0.1:1", asks: [text("alice\r"), secret()] },
  { id: "docker-login-u", run: "docker login -u alice 127.0.0.1:1", asks: [secret()] },
  { id: "redis-askpass", run: "redis-cli -p 1 --askpass", asks: [secret()] },
];

const ACCOUNTS: readonly Scenario[] = [
  { id: "sudo", run: `${AS_ALICE} sudo -k id`, asks: [secret("x\r"), secret("y\r")] },
  ...inLocales({ id: "sudo", run: `${AS_ALICE} sudo -k id`, asks: [secret("x\r"), secret()] }),
  { id: "sudo-prompt", run: `${AS_ALICE} sudo -k -p 'Passcode of %u on %h: ' id`, asks: [secret()] },
  { id: "su", run: `${AS_ALICE} su - root`, asks: [secret()] },
  ...inLocales({ id: "su", run: `${AS_ALICE} su - root`, asks: [secret()] }),
  { id: "passwd", run: `${AS_ALICE} passwd`, asks: [secret("wonderland\r"), secret("a\r"), secret("a\r")] },
  { id: "passwd-root", run: "passwd alice", asks: [secret("a\r"), secret("b\r")] },
  ...inLocales({ id: "passwd-root", run: "passwd alice", asks: [secret("a\r"), secret("b\r")] }),
  { id: "chfn", run: "chfn alice", asks: [text("\r"), text("\r"), text("\r")] },
  { id: "chsh", run: "chsh alice", asks: [text("\r", { default: "/bin/bash" })] },
  { id: "chage", run: "chage alice", asks: [text("\r", { default: "0" }), text("\r", { default: "99999" })] },
  { id: "gpasswd", run: "gpasswd alice", asks: [secret("a\r"), secret()] },
  { id: "login", run: "login", asks: [text("alice\r"), secret("x\r")] },
  {
    id: "adduser",
    run: "deluser -q bobby 2>/dev/null; adduser --no-create-home bobby",
    asks: [
      secret("a1\r"),
      secret("a2\r"),
      yesNo("y\r", { yes: "y", no: "N", default: "no" }),
      secret("a1\r"),
      step("a1\r"),
      text("Bob\r"),
      text("\r"),
      text("\r"),
      text("\r"),
      text("\r"),
      yesNo("y\r", { yes: "Y", no: "n", default: "yes" }),
    ],
  },
];

const KEYS: readonly Scenario[] = [
  {
    id: "openssl-genrsa",
    run: "openssl genrsa -aes256 -out k.pem 1024",
    asks: [secret("sesame\r"), secret("sesame\r")],
  },
  {
    id: "openssl-rsa",
    run: "openssl genrsa -aes256 -passout pass:sesame -out k.pem 1024 2>/dev/null; openssl rsa -in k.pem",
    asks: [secret()],
  },
  {
    id: "openssl-enc",
    run: "openssl enc -aes-256-cbc -pbkdf2 -in /etc/hostname -out x",
    asks: [secret("a\r"), secret("a\r")],
  },
  { id: "openssl-passwd", run: "openssl passwd -6", asks: [secret("a\r"), secret()] },
  {
    id: "openssl-req",
    run: "openssl req -new -newkey rsa:1024 -keyout k.pem -out r.pem",
    asks: [
      secret("sesame\r"),
      secret("sesame\r"),
      text("DE\r", { default: "AU" }),
      text("\r", { default: "Some-State" }),
      text("\r"),
      text("\r"),
      text("\r"),
      text("\r"),
      text("\r"),
      secret("\r"),
      text("\r"),
    ],
  },
  {
    id: "openssl-pkcs12",
    run: "openssl req -x509 -newkey rsa:1024 -nodes -subj /CN=a -keyout k.pem -out c.pem 2>/dev/null; openssl pkcs12 -export -inkey k.pem -in c.pem -out a.p12",
    asks: [secret("a\r"), secret("a\r")],
  },
  {
    id: "gpg-generate",
    run: "mkdir -m 700 g; gpg --homedir g --full-generate-key; gpgconf --homedir $PWD/g --kill all",
    asks: [
      choice("1\r"),
      text("1024\r", { default: "3072" }),
      text("0\r", { default: "0" }),
      yesNo("y\r", { yes: "y", no: "N", default: "no" }),
      text("Alice Example\r"),
      text("alice@example.org\r"),
      text("\r"),
      choice("Q\r"),
    ],
  },
  ...inLocales(
    {
      id: "gpg-generate",
      run: "mkdir -m 700 g; gpg --homedir g --full-generate-key; gpgconf --homedir $PWD/g --kill all",
      asks: [choice("1\r"), text("1024\r", { default: "3072" }), text("0\r", { default: "0" }), yesNo()],
    },
    ["de_DE.UTF-8", "fr_FR.UTF-8", "ja_JP.UTF-8", "zh_CN.UTF-8"],
  ),
  {
    id: "gpg-symmetric",
    run: "mkdir -m 700 g; echo hi >f; gpg --homedir g --pinentry-mode loopback -c f; gpgconf --homedir $PWD/g --kill all",
    asks: [secret("a\r")],
  },
  {
    id: "gpg-pinentry",
    run: "mkdir -m 700 g; echo pinentry-program /usr/bin/pinentry-curses >g/gpg-agent.conf; export GPG_TTY=$(tty); echo hi >f; gpg --homedir g -c f; gpgconf --homedir $PWD/g --kill all",
    asks: [secret()],
  },
  {
    id: "gpg-delete",
    run: "mkdir -m 700 g; gpg --homedir g -q --batch --passphrase '' --quick-gen-key a@b.example rsa1024; gpg --homedir g --delete-secret-keys a@b.example; gpgconf --homedir $PWD/g --kill all",
    asks: [yesNo("n\r", { yes: "y", no: "N", default: "no" })],
  },
  {
    id: "gpg-edit",
    run: "mkdir -m 700 g; gpg --homedir g -q --batch --passphrase '' --quick-gen-key a@b.example rsa1024; gpg --homedir g --edit-key a@b.example; gpgconf --homedir $PWD/g --kill all",
    asks: [chat("trust\r"), choice("5\r"), yesNo("y\r", { yes: "y", no: "N", default: "no" }), chat()],
  },
  {
    id: "cryptsetup",
    run: "truncate -s 20M d.img; cryptsetup luksFormat d.img",
    asks: [yesNo("YES\r", { yes: "YES" }), secret("a\r"), secret()],
  },
  { id: "zip-e", run: "touch a; python3 -c 1; zip -e z.zip a", asks: [secret("a\r"), secret()] },
  { id: "unzip-password", run: "echo 1 >a; zip -q -P x z.zip a; rm a; unzip z.zip", asks: [secret("y\r"), secret()] },
];

const DATABASES: readonly Scenario[] = [
  { id: "psql-W", run: "psql -W -h 127.0.0.1 -p 1 -U alice shop", asks: [secret()] },
  ...inLocales({ id: "psql-W", run: "psql -W -h 127.0.0.1 -p 1 -U alice shop", asks: [secret()] }, [
    "de_DE.UTF-8",
    "fr_FR.UTF-8",
    "ja_JP.UTF-8",
  ]),
  {
    id: "createuser",
    run: "createuser -h 127.0.0.1 -p 1 --interactive -P",
    asks: [text("bob\r"), secret("a\r"), secret("a\r"), yesNo("n\r", { yes: "y", no: "n" })],
  },
  { id: "dropdb", run: "dropdb -i -h 127.0.0.1 -p 1 shop", asks: [yesNo("n\r", { yes: "y", no: "n" })] },
  ...inLocales({ id: "dropdb", run: "dropdb -i -h 127.0.0.1 -p 1 shop", asks: [yesNo("n\r")] }, [
    "de_DE.UTF-8",
    "es_ES.UTF-8",
    "ja_JP.UTF-8",
  ]),
  { id: "mariadb-p", run: "mariadb -h 127.0.0.1 -P 1 -u alice -p", asks: [secret()] },
];

const PROGRAMS: readonly Scenario[] = [
  { id: "getpass", run: 'python3 -c "import getpass; getpass.getpass()"', asks: [secret("a\r")] },
  {
    id: "getpass-named",
    run: "python3 -c \"import getpass; getpass.getpass('Vault key for prod: ')\"",
    asks: [secret("a\r")],
  },
  { id: "getpass-silent", run: "python3 -c \"import getpass; getpass.getpass('> ')\"", asks: [secret("a\r")] },
  {
    id: "getpass-lie",
    run: "python3 -c \"import getpass; getpass.getpass('Continue? [y/N] ')\"",
    asks: [secret("a\r")],
  },
  {
    id: "getpass-menu",
    run: "python3 -c \"import getpass; print('1) a\\n2) b'); getpass.getpass('Choose: ')\"",
    asks: [secret("a\r")],
  },
  { id: "read-s", run: "read -s -p 'API key: ' x", asks: [secret("a\r")] },
  { id: "read-s-token", run: "read -rs -p 'Paste your GitHub token here: ' x", asks: [secret("a\r")] },
  { id: "read-token-echo", run: "read -r -p 'Access token: ' x", asks: [secret("a\r")] },
  { id: "read-secret-echo", run: "read -r -p 'AWS Secret Access Key [None]: ' x", asks: [secret("a\r")] },
  { id: "read-otp", run: "read -r -p 'Verification code: ' x", asks: [secret("a\r")] },
  { id: "read-pin", run: "read -r -p 'Enter PIN for token: ' x", asks: [secret("a\r")] },
  { id: "stty-echo", run: "stty -echo; printf 'Passwort: '; read x; stty echo", asks: [secret("a\r")] },
  { id: "mysql-config", run: "mariadb --version >/dev/null; read -rs -p 'Mot de passe : ' x", asks: [secret()] },
  { id: "read-s-es", run: "read -rs -p 'Contraseña: ' x", asks: [secret()] },
  { id: "read-s-ja", run: "read -rs -p 'パスワード：' x", asks: [secret()] },
  { id: "read-s-zh", run: "read -rs -p '请输入密码：' x", asks: [secret()] },
];

export const SECRETS: readonly Scenario[] = [...REMOTE, ...ACCOUNTS, ...KEYS, ...DATABASES, ...PROGRAMS].filter(
  ({ asks }) => asks.length > 0,
);
