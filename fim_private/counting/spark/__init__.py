"""Counting beyond one machine: the same answers as in one process, from a Spark cluster.

The transactions are read, bounded and counted by the executors; this process, the driver, sees the vocabulary, the
counts that a mechanism looks at, and nothing else of the data. Only `session` may be imported where Spark is not
installed: it says so.
"""
