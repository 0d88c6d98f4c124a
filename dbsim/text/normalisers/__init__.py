"""What counts as the same letter: a module a normaliser, registry.py lists them."""
