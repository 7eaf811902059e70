"""Data inside a page: numbers as base64 of 32-bit floats, everything else as JSON that no text can leave."""

from __future__ import annotations

import base64
import json

import numpy as np


def packed(values) -> str:
    """Numbers as base64 of little-endian 32-bit floats (seven digits), row by row."""
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode("ascii")


def unpacked(text: str) -> np.ndarray:
    """What `packed` wrote, as one row."""
    return np.frombuffer(base64.b64decode(text), "<f4")


def as_json(value: object) -> str:
    """JSON that may stand inside a script element: no character of it begins a tag, an entity or a comment."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
