"""A program's outputs beside those of the centre's run, as linear forms with a remainder (`form`)."""

from __future__ import annotations

import numpy as np

from . import form
from .balls import up
from .form import Form
from .kinks import Kinks
from .program import Program
from .spread import Spread


def linearised(
    program: Program, given: list, first: int, box: list, spread: Spread
) -> tuple[np.ndarray, np.ndarray, list]:
    """(A, rest, values) of the outputs: f(x) − f(c) = A e + δ, |δ| ≤ rest, for c in `given` and x in the box and the spread."""
    n = len(box)
    kinks = Kinks(spread, len(program.codes))
    inputs: list = [Form(g) for g in given]
    for i, b in enumerate(box):
        C = given[first + i]
        inputs[first + i] = Form(b, C, spread.lines[:, i], 0.0, spread.sizes[:, i], kinks)
    found = program.run(form, inputs, Form)
    A = np.zeros((spread.rows, len(found), n))
    rest = np.zeros((spread.rows, len(found)))
    for j, f in enumerate(found):
        if f.same:
            continue
        off = np.abs(f.line[:, spread.columns :]).sum(axis=1)
        total = f.rest + off + kinks.γ * f.size
        bounded = np.isfinite(total) & np.isfinite(f.line).all(axis=1)
        A[:, j] = np.where(bounded[:, None], f.line[:, :n], 0.0)
        rest[:, j] = np.where(bounded, total, np.inf)
    return A, up(rest), [f.value for f in found]
