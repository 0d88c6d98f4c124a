"""An index on the command line: made, changed, kept in step, looked at."""
