/** What a batch of output is for a person in a chat: an agent's words, a program's output, or nothing. Rules PMT-90..PMT-92. */
export type OutputKind = "AGENT_MESSAGE" | "CLI_OUTPUT" | "NOISE";

const MEANINGFUL_MIN = 10;
const LINES_SEEN = 40;
const LINE_MAX = 240;

export function routeOutput(text: string, { showRaw }: { readonly showRaw: boolean }): OutputKind {
  const meaningful = text.replaceAll(/[\s\p{C}]/gu, "");
  if (meaningful.length < MEANINGFUL_MIN || !/[\p{L}\p{N}]/u.test(meaningful)) return "NOISE";
  if (showRaw) return "CLI_OUTPUT";
  const lines = outsideCode(text)
    .filter((line) => line.trim() !== "")
    .slice(0, LINES_SEEN);
  const cli = lines.filter(isCli).length;
  const prose = lines.filter((line) => !isCli(line) && isProse(line)).length;
  return prose > cli || (prose > 0 && prose === cli) ? "AGENT_MESSAGE" : "CLI_OUTPUT";
}

/** Code that an agent quotes is part of its message. */
function outsideCode(text: string): string[] {
  let inside = false;
  const lines = text.split(/\r?\n/u).map((line) => line.slice(0, LINE_MAX).trimEnd());
  return lines.filter((line) => {
    if (!/^\s*```/u.test(line)) return !inside;
    inside = !inside;
    return false;
  });
}

const CLI: readonly RegExp[] = [
  /^\s*(?:[$%❯➜] |> \S+@|# (?:apt|npm|git|make|cd|ls)\b|[\w.-]+@[\w.-]+:\S*[$#] ?)/u,
  /^\s*(?:Traceback \(most recent|File ".*", line \d|at \S+ \(|at (?:async )?\S+:\d+:\d+|Caused by:|panic:|thread '.*' panicked|goroutine \d)/u,
  /^\s*(?:npm|yarn|pnpm|cargo|make(?:\[\d+\])?|cmake|gcc|g\+\+|clang|rustc|go|pip3?|apt(?:-get)?|docker|kubectl|terraform|git|tsc|webpack|vite|pytest|jest|mvn|gradle|ninja)(?:[ :!]|$)/u,
  /^\s*(?:error|warning|fatal|note|info|debug|warn|notice|e|w|n|err!)(?:\[\w+\])?\s*[:!]/iu,
  /^\s*\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE|FATAL)\b/u,
  /^\s*\[?(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d)/u,
  /\S+\.\w{1,5}:\d+(?::\d+)?(?:[:\s)]|$)/u,
  /^\s*(?:\d+ (?:passing|failing|passed|failed|tests?|files? changed|insertions?|deletions?|packages?|vulnerabilities|updates?)\b|(?:PASS|FAIL|ok|not ok|---|===|\+\+\+|@@|✓|✔|✗|✘|×|√)(?:\s|$|-))/u,
  /^\s*(?:Compiling|Downloading|Downloaded|Installing|Building|Built|Unpacking|Selecting|Setting up|Preparing to|Processing triggers|Get:\d|Hit:\d|Fetched|Reading (?:package|state)|Collecting|Successfully (?:installed|built)|Requirement already|Finished|Running `|Resolving deltas|Receiving objects|remote:|Cloning into|added \d+ packages|found \d+ vulnerab|Need to get|After this operation|Step \d+\/\d+|Pulling|Sending build)\b/u,
  /^\s*(?:[-+] ?[\w"'{}()[\].;/*#<]|#include\b|(?:import|from|const|let|var|function|class|def|return|if|for|while|public|private|package|use|fn|export) .*[;{(:]\s*$)/u,
  /^[dl-][rwxst-]{9}\b|^total \d+$|^\s*\d+\s+\S+\s+\d+[KMG]?\s/u,
  /[{};]\s*$|^\s*[}\])]+[,;]?\s*$|^\s*<\/?[\w-]+[^>]*>\s*$|^\s*"[^"]+"\s*:\s/u,
  /\d{1,3}%|[█▉▊▋▌▍▎▏░▒▓]{2,}|[⠁-⣿]|\[[=#>.\- ]{4,}\]|\b\d+(?:\.\d+)?\s?[KMG]i?B(?:\/s)?\b/u,
  /^\s*[A-Z_]{3,}=\S|^\s*[\w.-]+\s*=\s*\S+$|^\S+\s{2,}\S+\s{2,}\S+|^[|+][-=+|]|^\s*\|.*\|\s*$/u,
  /^(?:commit [\da-f]{7,40}|Author:|Date:|diff --git|index [\da-f]+|On branch|Your branch|Changes (?:not staged|to be)|Untracked files|\s*(?:modified|new file|deleted|renamed):)/u,
];

function isCli(line: string): boolean {
  return CLI.some((pattern) => pattern.test(line)) && !isListOfProse(line);
}

/** `- Added a test for the parser.`: a bullet of a message, not a removed line. */
function isListOfProse(line: string): boolean {
  return (
    /^\s*(?:[-*•+]|\d{1,2}[.)])\s+(?:\*\*)?\p{Lu}\p{L}+(?:['’]\p{L}+)?\s+\p{Ll}+.*\s\p{Ll}+/u.test(line) &&
    !/[;{}]\s*$/u.test(line)
  );
}

const PROSE: readonly RegExp[] = [
  /^\s*#{1,6}\s+\S/u,
  /\*\*[^*]+\*\*|(?:^|\s)`[^`]+`(?:\s|[.,;:!?)]|$)/u,
  /^\s*(?:I|I'm|I'll|I've|I’ll|I’m|I’ve|Let me|Let's|Let’s|Here's|Here’s|Here is|This|That|These|The|Now|Next|Sure|Done|Updated|Created|Fixed|Added|Great|Okay|OK|Yes|No|You|Your|We|It|There|To|If|When|Would|Should|Ich|Das|Die|Der|Je|Le|La|El)\b.*\s\p{L}+/u,
  /^\s*[⏺●]\s+\p{Lu}/u,
  /^\s*(?:\d{1,2}[.)]\s+|[-*•]\s+)?\p{Lu}[^.!?]*(?:\s\p{L}+){3,}.*[.!?:]["”’)]?\s*$/u,
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}][。！？]$/u,
];

function isProse(line: string): boolean {
  return isListOfProse(line) || PROSE.some((pattern) => pattern.test(line));
}
