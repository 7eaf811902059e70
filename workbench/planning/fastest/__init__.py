"""The motion of least time along a path, and a lower bound of that time."""
