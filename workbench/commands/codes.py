"""Exit codes of the commands that no verdict gives."""

BAD = 3  # what was given cannot be used
FAULT = 70  # a fault of the program
INTERRUPTED = 130
