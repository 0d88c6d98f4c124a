"""The statement of a search: which rows it looks at, how they are ranked, compiled once."""
