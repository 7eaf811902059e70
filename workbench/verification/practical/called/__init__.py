"""A law that is called from Python: what it reaches, what it keeps, which numbers it remembers, what its text compares."""
