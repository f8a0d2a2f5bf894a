"""pexpect on the shell that everybody has here; prints nanoseconds, one a line.

  pexpect_peer.py throughput default|tuned FILE EXPECTED_BYTES
  pexpect_peer.py commands   default|tuned COUNT
  pexpect_peer.py matches    tuned         COUNT LINE      (prints when each match was told)

`tuned`: no pause before sending, large reads, and for throughput no matching at all."""
import sys
import time
import pexpect

PROMPT = "bench$ "


def shell(tuned):
    options = {"maxread": 65536} if tuned else {}
    child = pexpect.spawn("./shell", dimensions=(40, 120), timeout=300, **options)
    if tuned:
        child.delaybeforesend = None
    child.expect_exact(PROMPT)
    return child


def throughput(tuned, file, expected):
    child = shell(tuned)
    begun = time.monotonic_ns()
    if tuned:
        child.sendline(f"cat {file}")
        got = 0
        while got < int(expected):
            got += len(child.read_nonblocking(65536, 300))
    else:
        child.sendline(f"cat {file}; echo THE''END")
        child.expect_exact("THEEND")
    print(time.monotonic_ns() - begun)
    child.close(force=True)


def commands(tuned, count):
    child = shell(tuned)
    for i in range(int(count)):
        begun = time.monotonic_ns()
        child.sendline(f"true; echo DO''NE-{i:05}")
        child.expect_exact(f"DONE-{i:05}")
        print(time.monotonic_ns() - begun)
        child.expect_exact(PROMPT)
    child.close(force=True)


def matches(tuned, count, line):
    child = shell(tuned)
    child.sendline(line)
    told = []
    for i in range(int(count)):
        child.expect_exact(f"MATCH-{i:05}")
        told.append(time.monotonic_ns())
    child.expect_exact(PROMPT)
    print("\n".join(map(str, told)))
    child.close(force=True)


what, tuning, *rest = sys.argv[1:]
{"throughput": throughput, "commands": commands, "matches": matches}[what](tuning == "tuned", *rest)
