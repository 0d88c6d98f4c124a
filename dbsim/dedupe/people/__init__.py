"""What people see, claim and decide, and how groups grew."""
