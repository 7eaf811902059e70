"""Search for a run that violates a requirement: what may vary, how near a run is, where to look next, the smallest deviation."""
