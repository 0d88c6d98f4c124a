"""Pairs → groups, and how good groups are: pure functions on arrays."""
