"""What a name, a date, an address is, and what counts as equal in it, for records of persons."""
