"""Asks COUNT times, in turn for a line and for a password, and writes to FILE when (CLOCK_MONOTONIC, in nanoseconds)
each question was about to be printed: asker.py COUNT FILE"""
import sys
import time
from getpass import getpass

# After short and long silences.
PAUSES = [0.05, 0.08, 0.25, 0.6, 1.1]

asked = []
for i in range(int(sys.argv[1])):
    time.sleep(PAUSES[i % 5] + i * 7 % 60 / 1000)
    asked.append(time.monotonic_ns())
    if i % 2:
        getpass(f"Password {i}: ")
    else:
        input(f"Go on {i}? ")
with open(sys.argv[2], "w") as file:
    file.writelines(f"{at}\n" for at in asked)
