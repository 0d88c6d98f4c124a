"""What an index is, as frozen values: its fields, and all its options, which are stored as JSON."""

from dbsim.options.fields import UNITS, Field, describe_columns, field_options, fields_from, require_positive
from dbsim.options.index_options import IndexOptions, Planned

__all__ = [
    "UNITS",
    "Field",
    "IndexOptions",
    "Planned",
    "describe_columns",
    "field_options",
    "fields_from",
    "require_positive",
]
