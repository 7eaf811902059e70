"""Mechanisms from URDF files."""
