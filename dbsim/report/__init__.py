"""What people read: pages, tables, plots, marked differences."""
