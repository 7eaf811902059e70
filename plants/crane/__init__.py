"""Cranes of parallel–serial structures: geometry, equations, pumps."""
