/** Variables by which programs run others, or find other files than they seem to; and those that hold secrets. */
const RISKY = new RegExp(
  `^(?:${[
    "PATH|LD_.*|DYLD_.*|BASH_ENV|ENV|BASH_FUNC.*|BASH_LOADABLES_PATH|PROMPT_COMMAND|PS[0-4]|IFS|CDPATH|HOME|PWD|OLDPWD|SHELL|SHELLOPTS|BASHOPTS|GLOBIGNORE",
    "GIT_(?:.*COMMAND|.*EDITOR|ASKPASS|EXEC_PATH|DIR|WORK_TREE|COMMON_DIR|CONFIG.*|TEMPLATE_DIR|SSH.*|EXTERNAL_DIFF|PROXY.*|TRACE.*|INDEX_FILE|OBJECT_DIRECTORY|ALLOW_PROTOCOL)",
    ".*PAGER|LESSOPEN|LESSCLOSE|LESS|LESSKEY.*|.*EDITOR|VISUAL|BROWSER|.*_ASKPASS|RSYNC_RSH|CVS_RSH|FPATH|ZDOTDIR|INPUTRC|TERMINFO.*|TERMCAP",
    "NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|(?:npm|NPM)_(?:config|CONFIG)_.*|PYTHON(?:PATH|STARTUP|HOME|INSPECT|BREAKPOINT|USERBASE|EXECUTABLE|WARNINGS)|PERL5?(?:LIB|OPT|DB).*|RUBY(?:OPT|LIB).*",
    "JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|(?:MAVEN|GRADLE)_OPTS|MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES|CC|CXX|CPP|AR|LD|RUSTC.*|RUSTFLAGS|CARGO_.*|GO(?:FLAGS|PROXY|PATH|ROOT)|CGO_.*",
    "RIPGREP_CONFIG_PATH|BAT_.*|JQ_.*|PIP_.*|TAR_OPTIONS|GREP_OPTIONS|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|DOCKER_.*|KUBECONFIG|.*_PROXY|.*_proxy|SSL_CERT_.*|OPENSSL_CONF|CURL_HOME|WGETRC|XDG_.*|TMPDIR|MANPAGER|MANOPT|SUDO_.*",
  ].join("|")})$`,
);
/** A pager that only shows. */
const HARMLESS_PAGER = /^(?:|cat|less)$/;

/** `value`: absent if nobody knows it. */
export function isRiskyVariable(name: string, value: string | undefined): boolean {
  if (name.endsWith("PAGER") && value !== undefined && HARMLESS_PAGER.test(value)) return false;
  return RISKY.test(name);
}

const SECRET =
  /(?:^|_)(?:TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PWD|CREDENTIALS?|API_?KEYS?|ACCESS_KEY(?:_ID)?|PRIVATE_KEY|PAT|DSN|DATABASE_URL)(?:$|_)/i;

/** A variable that by its name holds what nobody else should know. */
export function holdsSecret(name: string): boolean {
  return name !== "PWD" && name !== "OLDPWD" && SECRET.test(name);
}
