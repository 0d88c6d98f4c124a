"""What several hash families are made of."""
