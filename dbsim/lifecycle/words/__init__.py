"""Word signatures of an index: their bit slices, and how well they divide."""
