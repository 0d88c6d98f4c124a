"""Uniform samples of a collection, how much two collections share, random walks on pairs."""
