"""SQLite's way of every subject in backend/, in the module of the same name."""
