"""Views and functions for SQL users of SQLite."""
