"""Views, functions and rights for SQL users of PostgreSQL."""
