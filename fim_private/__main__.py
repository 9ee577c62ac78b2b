"""`python -m fim_private` is `fim-private`."""

from fim_private.cli.app import run

if __name__ == "__main__":
    run()
