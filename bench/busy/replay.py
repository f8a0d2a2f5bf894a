"""Prints a recording on its terminal, as a program that works and pauses: replay.py FILE

Each pause lasts as long as it has to for what looks at silence to happen.
"""

import os
import struct
import sys
import termios
import time


def paused(wait_ms):
    """Silence is looked at after 30 ms, after 1 s and after 2 s; more of it changes nothing."""
    if wait_ms >= 5000:
        return 2.15
    if wait_ms >= 1000:
        return 1.1
    return 0.04 if wait_ms >= 30 else 0


def replay(file):
    with open(file, "rb") as recording:
        while head := recording.read(8):
            wait_ms, length = struct.unpack("<II", head)
            time.sleep(paused(wait_ms))
            data = recording.read(length)
            while data:
                data = data[os.write(1, data) :]


# What was recorded has passed a terminal: its line ends are whole.
before = termios.tcgetattr(0)
try:
    modes = termios.tcgetattr(0)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(0, termios.TCSANOW, modes)
    replay(sys.argv[1])
finally:
    termios.tcsetattr(0, termios.TCSANOW, before)
