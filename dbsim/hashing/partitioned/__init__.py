"""The Bloom filters of Kampf's sketch: n-grams in parts of prime length."""
