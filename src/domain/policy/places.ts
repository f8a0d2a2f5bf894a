/** Where a path leads. Rules POL-5, POL-15 and POL-19 in docs/spec/policy.md. */
import type { Circumstances } from "./action.ts";
import { nameMatches } from "./glob.ts";
import { baseName, isWithin, parentOf } from "./paths.ts";
import type { Place } from "./verdict.ts";

type Surroundings = Pick<Circumstances, "home" | "roots" | "ours">;

const SYSTEM = "bin boot dev etc home lib lib32 lib64 libx32 opt proc root run sbin srv sys usr var".split(" ");
/** Whoever loses one of these loses the machine. */
const VITAL: ReadonlySet<string> = new Set([
  "/",
  ...SYSTEM.map((name) => `/${name}`),
  ..."/usr/bin /usr/lib /usr/sbin /usr/share /usr/local /usr/lib64 /var/lib /etc/ssh /lib/modules".split(" "),
]);
const TEMPORARY = ["/tmp", "/var/tmp", "/dev/shm"];
const DISK = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|dm-|md|mapper\/|disk\/|loop|mem$|kmem$|port$|zram|nbd|block\/)/;
const HARMLESS_DEVICE =
  /^\/dev\/(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd\/\d+|pts\/\d+)$|^\/proc\/self\/fd\/\d+$/;

const CREDENTIAL_DIRECTORIES =
  /(?:^|\/)(?:\.ssh|\.aws|\.azure|\.gnupg|\.kube|\.password-store|\.mozilla|\.thunderbird|\.vault|\.oci|\.config\/(?:gcloud|gh|op|hub|google-chrome|chromium|BraveSoftware|microsoft-edge|rclone|doctl|sops)|\.local\/share\/keyrings|Keychains|snap\/firefox)(?:\/|$)|^\/(?:etc\/ssl\/private|etc\/sudoers\.d|run\/secrets|var\/run\/secrets|run\/credentials)(?:\/|$)/;
const CREDENTIAL_FILES =
  /^(?:\.env|\.env\..*|\.envrc|.*\.env|\.netrc|_netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.my\.cnf|\.boto|\.s3cfg|\.htpasswd|\.vault-token|\.dockercfg|\.claude\.json|\.credentials\.json|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)|\..*_history|\.history|\.lesshst|credentials(?:\.(?:json|toml|db|xml|tfrc\.json))?|secrets?\.(?:json|ya?ml|toml)|service-?account.*\.json|kubeconfig|auth\.json)$/;
const NO_CREDENTIALS = /^\.env\.(?:example|sample|template|dist|defaults?)$|\.pub$|^.+\.example\.env$/;
const CREDENTIAL_PATHS =
  /^\/etc\/(?:g?shadow-?|sudoers|krb5\.keytab)$|^\/proc\/[^/]+\/(?:environ|mem)$|\/\.docker\/config\.json$|\/\.git\/config$/;
/** Names of which one may hide behind a wildcard. */
const SAMPLES = (
  ".env .env.local .envrc .netrc .npmrc .pypirc .git-credentials .pgpass .bash_history .zsh_history .ssh .aws .gnupg .kube " +
  ".claude.json id_rsa id_ed25519 server.pem server.key store.p12 credentials credentials.json secrets.json secrets.yaml shadow " +
  ".azure .password-store .mozilla .thunderbird .vault .oci .docker .git private sudoers.d secrets keyrings Keychains"
).split(" ");
/** What a search finds that asks for no name, dots included. */
export const EVERYTHING = "?*";
/** Below `.config`, whose other directories are nobody's secret. */
const CONFIG_SAMPLES = "gcloud gh op hub google-chrome chromium BraveSoftware rclone doctl sops".split(" ");

export function placeOf(path: string, { home, roots, ours }: Surroundings): Place {
  if (ours.some((own) => isWithin(path, own))) return "ours";
  if (isCredential(path)) return "credentials";
  if (roots.some((root) => isWithin(path, root))) return "inside";
  if (TEMPORARY.some((directory) => path !== directory && isWithin(path, directory))) return "temporary";
  if (isWithin(path, "/dev")) return "device";
  if (home !== undefined && isWithin(path, home)) return "home";
  return path === "/" || path === "/tmp" || SYSTEM.some((name) => name !== "home" && isWithin(path, `/${name}`))
    ? "system"
    : "outside";
}

/** A path at which written or read data ends or begins nowhere. */
export function isNowhere(path: string): boolean {
  return HARMLESS_DEVICE.test(path);
}

export function isDisk(path: string): boolean {
  return DISK.test(path);
}

/** Without it, or all that is directly in it, the machine or the home is lost. */
export function isVital(path: string, home: string | undefined): boolean {
  return VITAL.has(path) || (home !== undefined && isWithin(home, path));
}

/** The same of names that a pattern matches: `/u*`. */
export function mayBeVital(directory: string, pattern: string, home: string | undefined): boolean {
  const simple = withoutBrackets(pattern);
  if (/^[*?]+$/.test(simple)) return isVital(directory, home);
  return [...VITAL, ...(home === undefined ? [] : [home])].some(
    (path) => path !== "/" && parentOf(path) === directory && nameMatches(simple, baseName(path)),
  );
}

function withoutBrackets(pattern: string): string {
  return pattern.replaceAll(/\[[^\]]*\]/g, "?");
}

export function holdsOurs(path: string, ours: readonly string[]): boolean {
  return ours.some((own) => isWithin(own, path) || isWithin(path, own));
}

/** Everything below it is read: a home has its keys there. */
export function holdsCredentials(path: string, home: string | undefined): boolean {
  return path === "/" || path === "/etc" || path === "/proc" || (home !== undefined && isWithin(home, path));
}

export function isCredential(path: string): boolean {
  const name = baseName(path);
  if (CREDENTIAL_PATHS.test(path) || CREDENTIAL_DIRECTORIES.test(path)) return true;
  return CREDENTIAL_FILES.test(name) && !NO_CREDENTIALS.test(name);
}

/** A bare `*` is taken for the ordinary files that people mean by it. */
export function mayBeCredential(pattern: string): boolean {
  const name = baseName(pattern);
  if (isCredential(parentOf(pattern)) || isCredential(pattern) || leadsToCredentials(pattern)) return true;
  const simple = withoutBrackets(name);
  return !/^[*?]+$/.test(simple) && !/^\*\.\w+$/.test(simple)
    ? SAMPLES.some((sample) => nameMatches(simple, sample))
    : isCredential(`/x${simple.slice(1)}`);
}

/** A directory on the way is a pattern: `~/.s*\/x`. */
function leadsToCredentials(pattern: string): boolean {
  const names = pattern.split("/");
  return names.slice(0, -1).some((name, index) => {
    const simple = withoutBrackets(name);
    if (!/[*?]/.test(simple) || /^[*?]+$/.test(simple)) return false;
    const before = names.slice(0, index).join("/");
    const samples = before.endsWith("/.config") ? CONFIG_SAMPLES : SAMPLES;
    return samples.some((sample) => nameMatches(simple, sample) && isCredential(`${before}/${sample}/x`));
  });
}

/** What a pattern names may be that path, or lie above or below it; `**` stands for any way down. */
export function mayReach(pattern: string, path: string): boolean {
  const names = withoutBrackets(pattern).split("/");
  const deep = names.indexOf("**");
  const given = path.split("/");
  const areAlike = (some: readonly string[]): boolean =>
    some.every((name, index) => given[index] === undefined || nameMatches(name, given[index]));
  if (deep < 0) return areAlike(names);
  const last = names.at(-1)!;
  return areAlike(names.slice(0, deep)) && (last === EVERYTHING || given.some((name) => nameMatches(last, name)));
}
