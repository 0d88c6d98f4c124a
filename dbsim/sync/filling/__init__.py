"""Fill a generation from the table, by one process or by several that share its key ranges."""
