"""Verdicts as plain JSON data, in a format with a version number, for other programs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.run.log import plain

FORMAT = "fluidproof-verdicts"
VERSION = 1
_WORDS = {math.inf: "infinite", -math.inf: "minus infinite"}


def document(case, examination, code: int) -> dict:
    """Everything about one verification: verdicts in order, exit code, what is needed to repeat it.

    JSON has no infinity and no NaN: such numbers are null, and `not_finite` says in words what they were, by path.
    """
    verdicts = [plain(_listed(v.as_dict()), v.key) for v in examination.verdicts]
    counts = {
        word: sum(v.counted and v.word == word for v in examination.verdicts)
        for word in ("holds", "violated", "undecided")
    }
    status = examination.log.status
    found = {
        "format": FORMAT,
        "version": VERSION,
        "file": case.path,
        "name": case.name,
        "exit_code": code,
        "counts": counts,
        "verdicts": verdicts,
        "run": {
            "completed": status.completed,
            "message": status.message,
            "t_end": status.t_end,
            **plain(dict(examination.log.provenance), "provenance"),
        },
        "case": {"text": case.text, "sha256": hashlib.sha256(case.text.encode()).hexdigest()},
    }
    odd: dict[str, str] = {}
    return {**_finite(found, "", odd), "not_finite": odd}


def _listed(value: Any) -> Any:
    """Arrays as lists, complex numbers as {real, imag}."""
    if isinstance(value, Mapping):
        return {str(k): _listed(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_listed(v) for v in value]
    if isinstance(value, np.ndarray | np.generic):
        return _listed(value.tolist())
    return {"real": value.real, "imag": value.imag} if isinstance(value, complex) else value


def _finite(value: Any, path: str, odd: dict[str, str]) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        odd[path] = _WORDS.get(value, "not a number")
        return None
    if isinstance(value, dict):
        return {k: _finite(v, f"{path}.{k}" if path else k, odd) for k, v in value.items()}
    return (
        [_finite(v, f"{path}.{i}", odd) for i, v in enumerate(value)]
        if isinstance(value, list)
        else value
    )
