"""The pages of `dbsim serve`: a module a page; guard.py lets requests in."""
