"""What the equations are written over."""

from __future__ import annotations

from typing import Any

Scalar = Any
"""A float, or a CasADi expression: the text of a plant or law runs on both."""

Vector = Any
"""Scalars in order: a list, tuple or array."""
