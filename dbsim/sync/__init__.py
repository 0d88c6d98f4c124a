"""Keep what is stored in step with the table: repair, build, drain the queue, compare."""
