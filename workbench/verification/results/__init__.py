"""What a verification tells beside its verdicts: arrays that a report draws, and JSON."""
