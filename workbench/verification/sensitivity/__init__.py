"""Which numbers of the machine move the margins of the requirements most: by differences of runs near the case, and over ranges."""
