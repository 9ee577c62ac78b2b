"""One small file for each peer, and for this project: reading a file into its form, and counting itemsets in it.

A module is imported only when its peer is measured, so that nobody pays for another's libraries.
"""

from __future__ import annotations

from importlib import import_module

from benchmarks.peers.protocol import Peer

OURS = "fim_private"
"""The row that all ratios refer to: it delivers what the others deliver."""

SHARED = "fim_private, members shared"

PEERS = {
    OURS: "ours:FULL",
    SHARED: "ours:FIND",
    "fim_private, in order": "ours:ORDERED",
    "fim_private, histogram": "ours:HISTOGRAM",
    "fim_private, top 1,000": "ours:TOP",
    "pyfim eclat": "pyfim:ECLAT",
    "pyfim fpgrowth": "pyfim:FPGROWTH",
    "pyfim eclat, spectrum": "pyfim:SPECTRUM",
    "rusket fpgrowth": "rusket_csr:FPGROWTH",
    "rusket eclat": "rusket_csr:ECLAT",
    "fastapriori": "fastapriori_core:APRIORI",
    "fastapriori eclat": "fastapriori_core:ECLAT",
    "mlxtend fpgrowth": "mlxtend_frames:FPGROWTH",
    "scipy": "scipy_product:PRODUCT",
    "polars": "polars_join:JOIN",
    "DuckDB": "duckdb_join:JOIN",
    "Spark": "spark_join:JOIN",
}
"""Name in the tables: module and name in it."""


def load_peer(name: str) -> Peer:
    """Import the peer with its libraries."""
    module, attribute = PEERS[name].split(":")
    peer = getattr(import_module(f"benchmarks.peers.{module}"), attribute)
    assert isinstance(peer, Peer)  # noqa: S101 - for the type checker
    return peer
