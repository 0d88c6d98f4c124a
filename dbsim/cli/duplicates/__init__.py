"""The whole table at once, and what people say about it, on the command line."""
