"""The report of an audit, and single verdicts."""
