"""Pages of one thing each: a release, a plan."""
