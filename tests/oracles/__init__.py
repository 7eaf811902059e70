"""Independent oracles: the same machines in other people's mechanics libraries, sharing no equation with the plants."""
