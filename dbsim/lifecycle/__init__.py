"""Create, change, rename and drop an index; its status; the statements that define it."""
