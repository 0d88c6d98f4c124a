"""Near-duplicate search inside the SQLite or PostgreSQL database you already have."""

from dbsim.database import Database, open
from dbsim.errors import DbsimError
from dbsim.index import Index
from dbsim.options import Field, IndexOptions
from dbsim.search.explain import Explanation
from dbsim.search.results import Hit, Results

__version__ = "0.1.0"
__all__ = ["Database", "DbsimError", "Explanation", "Field", "Hit", "Index", "IndexOptions", "Results", "open"]
