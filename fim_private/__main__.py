"""`fim-private`, also as `python -m fim_private`."""

import os
import signal

# Ctrl-C ends the program without a word until `run` listens: Python would show where it stood.
signal.signal(signal.SIGINT, signal.SIG_DFL)

# Nothing here multiplies matrices, and the threads for it, one a core, may be more than a memory limit has room for.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Settings for other programs of this machine: as plain Python our loops would take for ever, none of them uses numba's
# threads, and numba fails on a number of threads that it cannot have.
for _setting in ("NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS"):
    os.environ.pop(_setting, None)

# The next file to be opened would get the number of a stream that is closed, and what is printed would go into it.
for _descriptor in range(3):
    try:
        os.fstat(_descriptor)
    except OSError:
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003 - Python's own

from fim_private.cli.app import run  # noqa: E402 - which takes the tenth of a second that this is about

if __name__ == "__main__":
    run()
