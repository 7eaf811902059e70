"""Drives of a machine, one kind a file; what they have in common is `plants.drives.contract`, all of them `plants.drives.kinds`."""
