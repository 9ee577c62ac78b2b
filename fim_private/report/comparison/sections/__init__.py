"""The comparison report, one file a section; each makes its figures and says what is to be seen in them."""
