"""How fast this project counts, beside its peers: `python -m benchmarks`, or `make bench`."""
