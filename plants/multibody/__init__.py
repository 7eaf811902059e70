"""Multibody mechanisms: trees of bodies, loops cut and closed, three solvers over one text."""
