"""What is stored: names, tables, the catalogue, conditions on keys; nothing that one engine has for itself."""
