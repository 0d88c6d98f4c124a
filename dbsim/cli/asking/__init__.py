"""Questions to an index on the command line."""
