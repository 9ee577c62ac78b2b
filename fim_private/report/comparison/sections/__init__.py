"""The comparison report, one file per section. Each section makes its figures and says what they show."""
