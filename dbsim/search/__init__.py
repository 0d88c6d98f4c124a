"""One question: sign it, look up its keys, rank what is found, decide what is a hit."""
