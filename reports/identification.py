"""The report of an identification as PDF: model, intervals, how well it fits, what the residuals say, validation."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from reports.figures import identification as drawn
from workbench.identification.curves import curves, responses
from workbench.identification.report import amount, remarks, summary

from . import tables
from .document import typeset, write_pdf
from .style import clean, drawing, svg

RECORDS = 4  # records drawn of each kind


@final
@dataclass(frozen=True, eq=False)
class Identified:
    """What a report on an identification shows.

    fit         `workbench.identification.Fit`
    own         tests of the residuals, `examine(fit)`
    fresh       `validate(fit, records)` on the fresh `records`, or None
    selection   comparison of several orders, `compare(…)`, or None
    hints       sentences on what looks suspicious in the records
    date, command   as they shall be printed
    """

    fit: Any
    own: Any
    fresh: Any = None
    records: tuple = ()
    selection: Any = None
    hints: Sequence[str] = ()
    date: str = ""
    command: str = ""


def write_identification(
    path: str | os.PathLike, content: Identified, progress: Callable[[float], None] | None = None
) -> None:
    """Write the report as PDF, whole or not at all. Raises InputError when `path` cannot be written."""
    write_pdf(path, lambda: rendered(content), progress)


def rendered(content: Identified, format: str = "pdf", ppi: float = 100.0):
    """The report as bytes, or one picture a page. Same content, same bytes."""
    shown = figures(content)
    return typeset("identification", shown, data(content, list(shown)), format, ppi)


def figures(content: Identified) -> dict[str, bytes]:
    """Name → SVG."""
    model = content.fit.model
    units = {
        c.input: f"{model.output_unit}/{unit}" for c, unit in zip(model.channels, model.input_units)
    }
    with drawing():
        made = {
            "responses": drawn.responses(responses(content.fit), units),
            "residuals": drawn.residuals(content.own),
        }
        for i, curve in enumerate(curves(content.fit, content.fit.records, content.own)[:RECORDS]):
            made[f"record_{i}"] = drawn.record(curve, model.output)
        if content.fresh is not None:
            made["residuals_fresh"] = drawn.residuals(content.fresh)
            for i, curve in enumerate(
                curves(content.fit, content.records, content.fresh)[:RECORDS]
            ):
                made[f"fresh_{i}"] = drawn.record(curve, model.output)
        return {name: svg(fig) for name, fig in made.items() if fig is not None}


def data(content: Identified, figures: list[str]) -> dict:
    """What the template prints: text, already with units."""
    fit = content.fit
    model = content.fit.model
    inputs = ", ".join(c.input for c in model.channels)
    notes = (
        *remarks(fit, content.own, content.selection),
        *(c.words() for c in fit.open if len(c.weights) > 1),
        *content.hints,
    )
    first, *rest = summary(fit, content.own, content.fresh)
    tested = (("the records it was fitted to", content.own), ("fresh records", content.fresh))
    return {
        "title": tables.wrapped(f"{model.output} from {inputs}", 160),
        "short": tables.shortened(f"{model.output} from {inputs}", 70),
        "date": clean(content.date, 40),
        "output": clean(model.output, 40),
        "figures": figures,
        "answer": tables.wrapped(first),
        "summary": [tables.wrapped(line) for line in rest],
        "channels": [_channel(c) for c in model.channels],
        "estimates": [_estimate(e) for e in fit.estimates],
        "derived": [_estimate(e) for e in fit.derived],
        "notes": [tables.wrapped(note) for note in notes],
        "orders": _orders(content.selection),
        "records": _records(fit.records, fit.percent),
        "fresh": _records(content.records, content.fresh.percent) if content.fresh else [],
        "tests": [_test(what, found) for what, found in tested if found is not None],
        "correlated": bool(fit.noise.order),
        "command": clean(content.command),
    }


def _channel(c) -> dict:
    """A transfer function as text: coefficients by rising power, integrators, delay; poles and zeros."""
    poly = lambda values: [tables.quantity(v, "1", 4) for v in values]
    roots = lambda values: ", ".join(_root(r) for r in values) or "none"
    return {
        "input": clean(c.input, 40),
        "numerator": poly(c.b),
        "denominator": poly((1.0, *c.a)),
        "integrators": c.integrators,
        "delay": tables.quantity(c.delay, "s", 4) if c.delay else "",
        "poles": roots(c.poles),
        "zeros": roots(c.zeros),
        "stable": c.stable,
    }


def _root(r: complex) -> str:
    """'−877 1/s', '−31 + 613j 1/s'."""
    if not np.imag(r):
        return tables.quantity(float(np.real(r)), "1/s", 3)
    real, imaginary = (tables.quantity(float(v), "1", 3) for v in (r.real, abs(r.imag)))
    return f"{real} {'+' if r.imag > 0 else '−'} {imaginary}j 1/s"


def _estimate(e) -> list[str]:
    """[name, value, ± half of the 95 % interval, unit, remark]."""
    value, half, unit = amount(e)
    return [
        clean(e.name, 40),
        tables.typeset(value),
        tables.typeset(half),
        unit,
        "" if e.identified else "open",
    ]


def _orders(selection) -> list[list[str]]:
    if selection is None:
        return []
    number = lambda v, form: "–" if v is None else tables.typeset(format(v, form))
    return [
        [
            ", ".join(map(str, c.orders)),
            f"{min(c.fit.percent):.3f}",
            number(c.aic, ".1f"),
            number(c.bic, ".1f"),
            number(c.p_value, ".2g"),
            "chosen" if c is selection.best else "too high" if c.too_high else "",
        ]
        for c in selection.candidates
    ]


def _records(records, percent) -> list[list[str]]:
    """[file, samples, step, length, fit]."""
    return [
        [
            tables.wrapped(os.path.basename(r.source) or "record", 60),
            str(len(r) - r.start),
            tables.quantity(r.T, "s"),
            tables.quantity(r.t[-1] - r.t[r.start], "s"),
            f"{p:.3f} %",
        ]
        for r, p in zip(records, percent)
    ]


def _test(what: str, checked) -> list[str]:
    """[records, whiteness, Q, p, inputs still seen]."""
    seen = [clean(c.input, 40) for c in checked.cross if not c.independent]
    white = checked.whiteness
    return [
        what,
        "white" if white.white else "not white",
        f"{white.Q:.1f}",
        tables.typeset(f"{white.p:.2g}"),
        ", ".join(seen) or "none",
    ]
