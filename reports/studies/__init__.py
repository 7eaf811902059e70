"""Literate studies: one file is a page to read, a script to run and a test (`tests/test_studies.py`)."""
