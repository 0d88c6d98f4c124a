"""The sources' experiments, run again: see README.md beside this file."""
