"""A controller, plant or loop as a functional mock-up unit for co-simulation.

`model` has its variables and the glue to the exported C, `description` writes modelDescription.xml, `archive` compiles and packs;
instance.h, fmi3.c and fmi2.c are the interface around it.
"""
