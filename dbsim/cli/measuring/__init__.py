"""Settings and results, measured on a sample, on the command line."""
