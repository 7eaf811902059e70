"""Arrays that a report draws of an identification: curves of every record, tests of the residuals, frequency responses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.identification.fit import Fit
from workbench.identification.records import Record
from workbench.identification.residuals import Validation

POINTS = 240  # of a frequency response


def curves(found: Fit, records: Sequence[Record], checked: Validation) -> list[dict]:
    """A record each, of what counts in the fit: {source, t, unit, measured, modelled, residual, percent, inputs: [(name, unit,
    values)]}; modelled with the offset (and trend) that the fit took out, so measured − modelled is the residual."""
    made = []
    output = found.model.output
    for r, e, percent in zip(records, checked.residuals, checked.percent):
        y = r.output(output)[r.start :]
        moving = [
            s
            for s in r.inputs
            if s.name in {c.input for c in found.model.channels} and np.ptp(r.input(s.name))
        ]
        made.append(
            {
                "source": r.source,
                "t": r.t[r.start :],
                "unit": found.model.output_unit,
                "measured": y,
                "modelled": y - e,
                "residual": e,
                "percent": float(percent),
                "inputs": [(s.name, s.unit, r.input(s.name)[r.start :]) for s in moving],
            }
        )
    return made


def responses(found: Fit) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Input → (ω rad/s, G(jω)), over the frequencies that the records with that input can show."""
    made = {}
    for c in found.model.channels:
        seen = [r for r in found.records if c.input in r.input_names and np.ptp(r.input(c.input))]
        low = min(2 * np.pi / (r.t[-1] - r.t[0]) for r in seen)
        high = max(np.pi / r.T for r in seen)
        ω = np.geomspace(low, high, POINTS)
        made[c.input] = ω, c.frequency_response(ω)
    return made
