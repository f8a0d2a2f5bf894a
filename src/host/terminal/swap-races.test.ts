/** Somebody swaps what was approved as fast as can be while it runs: no run of anything else stays unsaid. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { BoundTerminal, type Prepared } from "../../../test/support/bound-terminal.ts";
import { closeServices } from "../../../test/support/terminal.ts";
import { soakCount } from "../../../test/support/soak.ts";

afterAll(closeServices);

/** Of each. */
const TRIES = soakCount(250);

/** Each turn puts another in its place, and after a moment the first again. */
const SWAPS = {
  "a script that is moved": 'move("x.sh", "evil.sh")',
  "a script that is written to": 'overwrite("x.sh")',
  "a link": 'relink("l.sh", "evil.sh", "x.sh")',
  "a directory": 'move("d", "evil")',
};

const PERL = `
use strict;
my ($dir, $longest) = @ARGV;
chdir $dir or die;
sub pause { select(undef, undef, undef, rand() * (rand() < 0.5 ? 0.02 : $longest)) }
sub exchange { my ($one, $other) = @_; rename $one, "$one.x"; rename $other, $one; rename "$one.x", $other }
sub move { exchange(@_); pause(); exchange(@_); pause() }
sub put { open(my $out, "+<", $_[0]) or die; syswrite($out, $_[1]); close $out }
sub overwrite { put($_[0], "#!/bin/sh\\necho evil\\n"); pause(); put($_[0], "#!/bin/sh\\necho good\\n"); pause() }
sub relink {
  my ($link, @targets) = @_;
  for my $target (@targets) { symlink $target, "$link.x"; rename "$link.x", $link; pause() }
}
$| = 1;
print "on\\n";
`;

async function startSwapping(home: string, swap: string): Promise<void> {
  const args = ["-e", `${PERL}; while (1) { ${swap} }`, home, "0.5"];
  const child = spawn("/usr/bin/perl", args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
}

const WANTED = { programs: ["./x.sh", "d/y.sh"], scripts: ["x.sh", "l.sh", "d/y.sh"] };
const GOOD = "good\r\ngood\r\ngood\r\n";

type Outcome = "stale" | "good" | "told" | "unsaid";

async function tried(bound: BoundTerminal, prepared: Prepared): Promise<Outcome> {
  const reply = { ...prepared.reply, epoch: bound.terminal.epoch };
  try {
    const { output, violated } = await bound.run({ ...prepared, reply }, "sh x.sh; sh l.sh; d/y.sh");
    if (violated === undefined) return output === GOOD ? "good" : "unsaid";
    await bound.letGoOn();
    return "told";
  } catch (error) {
    expect(error).toMatchObject({ code: "approval_stale" });
    return "stale";
  }
}

test.each(Object.entries(SWAPS))(
  "[APR-12, APR-14] %s, swapped in a race: stale, as approved, or told as violated (needs perl)",
  async (_, swap) => {
    const bound = await BoundTerminal.open("bash");
    await bound.terminal.block("mkdir evil");
    for (const file of ["evil.sh", "evil/y.sh"]) bound.write(file, "echo evil");
    const prepared = await bound.prepare(WANTED);
    await startSwapping(bound.terminal.home, swap);

    const outcomes: Outcome[] = [];
    // Until the race was lost once at least: else nothing was swapped.
    while (outcomes.length < TRIES || !outcomes.includes("stale")) outcomes.push(await tried(bound, prepared));

    expect(outcomes.filter((it) => it === "unsaid")).toEqual([]);
  },
);
