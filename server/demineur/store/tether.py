"""Run a program that ends when its parent does, however the parent ends.

    python -I -S tether.py PARENT_PID PROGRAM ARGUMENT...

Run as a file, so that it imports nothing but this. On Linux the kernel sends SIGTERM to the
program when the parent is gone (``PR_SET_PDEATHSIG`` outlives ``exec``). Elsewhere this
process stays, looks twice a second whether it was orphaned, and ends the program.
"""

import ctypes
import os
import platform
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
LOOK_S = 0.5


def main(arguments: list[str]) -> int:
    """Become, or watch over, the program; returns its exit status where it watched."""
    parent, program = int(arguments[0]), arguments[1:]
    if platform.system() != "Linux":
        return _watch_over(parent, program)
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() == parent:
        os.execv(program[0], program)  # noqa: S606
    return 1


def _watch_over(parent: int, program: list[str]) -> int:
    child = subprocess.Popen(program, close_fds=False)  # noqa: S603
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    while child.poll() is None:
        if os.getppid() != parent:
            child.terminate()
        time.sleep(LOOK_S)
    return child.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
