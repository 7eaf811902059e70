"""What time changes after a run has ended: a clock, a counter, a memory that leads elsewhere."""
