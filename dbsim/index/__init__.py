"""One index, as users hold it; a part a subject, every method one call into the stage that does the work."""

from dbsim.index.index import Index

__all__ = ["Index"]
