"""What is typed into a terminal: one file a command."""
