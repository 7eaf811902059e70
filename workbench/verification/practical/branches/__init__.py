"""Branches of a law that no run took: where their edges are, and what the loop does beyond them."""
