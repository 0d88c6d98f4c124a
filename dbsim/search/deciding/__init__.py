"""What is a hit: by the texts where the estimate is unsure, by what people said about two rows."""
