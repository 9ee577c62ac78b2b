"""The command line, one file per command. Results go to stdout; notes and progress go to stderr."""
