"""A file of records into a table: `load`."""

from dbsim.importing.load import load

__all__ = ["load"]
