"""What corrects the evidence of fields: how frequent a value is, and what people decided."""
