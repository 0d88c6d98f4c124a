"""The whole table: pairs and groups, stored and kept up to date."""
