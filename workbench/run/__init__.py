"""A loop through a scenario: references, grids, simulation, logs and what is read off them."""
