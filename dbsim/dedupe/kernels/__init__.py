"""Which rows are compared, and their scores: pure functions on arrays."""
