"""Keep the bit slices of word signatures: rows → blocks of slices."""
