"""Settings from a sample of the texts: how many keys, how long filters."""
