"""Questions for words: Words → keys of the rows that have them."""
