"""Count in this process: compiled loops walk through inverted lists in several threads."""
