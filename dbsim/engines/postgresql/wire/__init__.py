"""How statements and rows get to the server: drivers, parameters, COPY."""
