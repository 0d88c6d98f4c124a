"""Records of persons: evidence field by field, learned from the table → the probability that two are one."""
