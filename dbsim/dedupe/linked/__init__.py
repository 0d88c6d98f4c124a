"""Rows of one index that are rows of another: alike, memory, run, matching, table, results."""
