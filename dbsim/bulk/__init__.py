"""Near-duplicates of files or Arrow batches without a database: the signer and the kernels of an index, out of core."""

from dbsim.bulk.run import dedupe, duplicates, pairs

__all__ = ["dedupe", "duplicates", "pairs"]
