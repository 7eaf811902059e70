"""Interval arithmetic through traced graphs: boxes in, enclosures out, rounded outwards."""
