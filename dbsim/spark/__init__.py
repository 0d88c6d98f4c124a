"""Near-duplicates of a Spark DataFrame."""
