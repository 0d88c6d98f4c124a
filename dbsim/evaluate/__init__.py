"""What an index finds and what it misses, measured on a sample of its table; settings to choose; clusters."""
