"""The promises of dbsim under faults, each ending in one oracle: incremental state == from-scratch build.

Small by default, about two minutes in all. `DBSIM_RELIABILITY=full pytest tests/reliability -s` runs the large
versions (thousands of kills and sequences, a million rows, an hour or so); `-s` shows the figures the tests print.
"""
