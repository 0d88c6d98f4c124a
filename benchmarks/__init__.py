"""What the issues ask dbsim to be measured against, one command each: python -m benchmarks NAME."""
