"""The ways from features to bucket keys: a module a hash family, registry.py lists them."""
