"""Practical stability: runs from other starts, what they showed, and how far it reaches."""
