"""Supplies of a machine, one kind a file; their contract is `plants.supplies.contract`, all of them `plants.supplies.kinds`."""
