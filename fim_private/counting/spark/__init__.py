"""Count on a Spark cluster, with the same answers as in one process.

The executors read, bound and count the transactions. This process, the driver, sees only the vocabulary and the counts
that a mechanism looks at. Without Spark, only the module `session` can be imported, which says what is missing.
"""
