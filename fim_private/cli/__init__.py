"""The command line: one file a command. Words and progress go to stderr, results to stdout."""
