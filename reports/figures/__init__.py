"""Figures of reports: one subject a file. A function takes what it draws and gives a figure, or None."""
