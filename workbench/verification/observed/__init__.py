"""Claims on the signals of one run: requirements, limits of the machine, oscillation, energy, holding."""
