"""Which row of each group stays, and what is done to the others."""
