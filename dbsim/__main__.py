"""`python -m dbsim`, the same as the command `dbsim`."""

from dbsim.cli import main

main()
