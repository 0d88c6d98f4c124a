"""Deliberate breakages of what matters, and the tests that must notice each: `python -m tests.mutants`; not in CI."""
