"""Near-duplicates of a Spark DataFrame: the signer and the kernels of an index on a cluster, DataFrame in and out."""

from dbsim.spark.run import duplicates

__all__ = ["duplicates"]
