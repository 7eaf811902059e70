"""Numbers from expressions: derivatives, compiled code, integrators, intervals."""
