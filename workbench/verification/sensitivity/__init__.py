"""Which numbers of the machine move the margins of the requirements most: by derivatives of the run, and over ranges."""
