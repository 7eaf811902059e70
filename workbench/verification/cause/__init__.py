"""The most likely cause of what went wrong: faults are taken away one at a time, and the run is asked again."""
