"""Words and tables for people, made from releases and plans alone."""
