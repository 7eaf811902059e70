"""Sectors and regions of attraction of linear loops whose commands saturate."""
