"""`fim-private`, also as `python -m fim_private`."""

import signal

# Ctrl-C ends the program without a word until `run` listens: Python would show where it stood.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from fim_private.cli.app import run  # noqa: E402 - which takes the tenth of a second that this is about

if __name__ == "__main__":
    run()
