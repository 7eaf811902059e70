"""Machines whose loops are closed by penalties: the augmented Lagrangian with the trapezoidal rule."""
