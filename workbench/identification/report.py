"""A fit in words and numbers: terminal table, JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.contract.units import display, pretty
from workbench.identification.fit import Fit
from workbench.identification.order import Selection
from workbench.identification.page import Page
from workbench.identification.residuals import Validation
from workbench.identification.uncertainty import Estimate

EMPTY = "–"


def amount(e: Estimate) -> tuple[str, str, str]:
    """Value, half-width and unit, in a unit that reads well."""
    unit, size = display(e.unit, e.value)
    half = (e.high - e.low) / 2 / size
    return (
        f"{e.value / size:.6g}",
        f"± {half:.2g}" if math.isfinite(half) else "± ∞",
        "" if unit == "1" else pretty(unit),
    )


def text(
    found: Fit,
    own: Validation,
    fresh: Validation | None = None,
    selection: Selection | None = None,
    room: int = 100,
    colour: bool = False,
    hints: Sequence[str] = (),
) -> str:
    """All of it for a terminal."""
    from rich.text import Text

    page = Page(room, colour)
    if selection is not None:
        page.print(_orders(selection))
    page.print(_parameters(found))
    for line in summary(found, own, fresh):
        page.print(Text(line))
    for note in (
        *remarks(found, own, selection),
        *(c.words() for c in found.open if len(c.weights) > 1),
        *hints,
    ):
        page.print(Text(f"note: {note}", style="yellow"))
    return page.text()


def remarks(found: Fit, own: Validation, selection: Selection | None = None) -> tuple[str, ...]:
    """All notes of a fit: its own, those that its residuals add, orders that could not be fitted."""
    notes = [
        *found.notes,
        *(f"not fitted, {why}" for why in (selection.failed if selection else ())),
    ]
    seen = [c.input for c in own.cross if not c.independent]
    for shape in found.shapes:
        if shape.input in seen:
            form = "K/(s (1 + λ s)) only lags; what the input does at once (a force on compressible oil) is not in it. "
            plain = shape.integrators == 1 and shape.lags == 1 and shape.zeros == 0
            notes.append(
                f"K and lags of {shape.input} are biased, by more than their intervals say: the residuals still hold "
                f"{shape.input}, so dynamics are missing. "
                + (form if plain else "")
                + f"Try zeros and a higher order (--zeros {shape.zeros + 3 if plain else shape.zeros + 1} "
                f"--order {shape.order + 2 if plain else shape.order + 1})"
            )
    return tuple(notes)


def _table(*heads: str):
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        table.add_column(head, overflow="fold")
    return table


def _parameters(found: Fit):
    from rich.text import Text

    table = _table("parameter", "value", "95 %", "unit", "")
    for e in (*found.estimates, *found.derived):
        value, half, unit = amount(e)
        table.add_row(
            *map(Text, (e.name, value, half, unit)),
            Text("" if e.identified else "not identified", "yellow"),
        )
    return table


def _orders(selection: Selection):
    from rich.text import Text

    table = _table("order", "fit %", "AIC", "BIC", "F test p", "")
    for c in selection.candidates:
        remark = "chosen" if c is selection.best else "too high" if c.too_high else ""
        cells = (
            ", ".join(map(str, c.orders)),
            f"{min(c.fit.percent):.3f}",
            f"{c.aic:.1f}",
            f"{c.bic:.1f}",
            EMPTY if c.p_value is None else f"{c.p_value:.2g}",
            remark,
        )
        table.add_row(*map(Text, cells))
    return table


def summary(found: Fit, own: Validation, fresh: Validation | None) -> list[str]:
    """Fit, whiteness, cross-correlation, validation, a line each."""
    lines = [
        f"fit {_percents(found.percent)} on {found.samples} samples, {found.freedom} degrees of freedom",
        f"residuals {_white(own)}; {_inputs(own)}",
    ]
    if found.noise.order:
        lines.append(
            f"intervals allow for the correlation of the residuals (autoregression of order {found.noise.order})"
        )
    if fresh is not None:
        lines.append(
            f"validation: fit {_percents(fresh.percent)}; residuals {_white(fresh)}; {_inputs(fresh)}"
        )
    return lines


def _percents(values) -> str:
    return ", ".join(f"{v:.3f} %" for v in values)


def _white(v: Validation) -> str:
    word = "white" if v.whiteness.white else "not white"
    return f"{word} (Ljung–Box Q = {v.whiteness.Q:.1f}, p = {v.whiteness.p:.2g})"


def _inputs(v: Validation) -> str:
    seen = [c.input for c in v.cross if not c.independent]
    return (
        f"{', '.join(seen)} still seen in them: dynamics are missing"
        if seen
        else "nothing of the inputs left in them"
    )


# ---- JSON ---------------------------------------------------------------------------------------------------------
def document(
    found: Fit, own: Validation, fresh: Validation | None = None, selection: Selection | None = None
) -> dict:
    """Plain data for JSON, SI units; numbers that are not finite become null."""
    data = {
        "output": found.model.output,
        "unit": found.model.output_unit,
        "channels": [
            _channel(c, unit) for c, unit in zip(found.model.channels, found.model.input_units)
        ],
        "parameters": [_plain(e) for e in found.estimates],
        "derived": [_plain(e) for e in found.derived],
        "covariance": found.covariance.tolist(),
        "not_identifiable": [{"weights": c.weights, "relative_deviation": c.σ} for c in found.open],
        "notes": list(remarks(found, own, selection)),
        "converged": found.converged,
        "edge": dict(found.edge),
        "noise": {
            "order": found.noise.order,
            "autoregression": list(found.noise.a),
            "deviation": found.noise.σ,
        },
        "estimation": {
            "sources": [r.source for r in found.records],
            "samples": found.samples,
            "sample_times": [r.T for r in found.records],
            **_checks(own),
        },
        "validation": None if fresh is None else _checks(fresh),
        "orders": None if selection is None else _orders_as_data(selection),
    }
    return _finite(data)


def _orders_as_data(selection: Selection) -> list[dict]:
    """Every order that was tried, as plain data."""
    return [
        {
            "orders": list(c.orders),
            "aic": c.aic,
            "bic": c.bic,
            "f_test": c.p_value,
            "too_high": c.too_high,
            "chosen": c is selection.best,
        }
        for c in selection.candidates
    ]


def _channel(c, unit: str) -> dict:
    return {
        "input": c.input,
        "unit": unit,
        "numerator": list(c.b),
        "denominator": [1.0, *c.a],
        "integrators": c.integrators,
        "delay": c.delay,
        "stable": c.stable,
        "poles": [[p.real, p.imag] for p in c.poles],
    }


def _plain(e: Estimate) -> dict:
    return {
        "name": e.name,
        "value": e.value,
        "deviation": e.σ,
        "low": e.low,
        "high": e.high,
        "unit": e.unit,
        "identified": e.identified,
    }


def _checks(v: Validation) -> dict:
    return {
        "fit_percent": list(v.percent),
        "white": v.whiteness.white,
        "ljung_box": v.whiteness.Q,
        "p": v.whiteness.p,
        "autocorrelation": v.whiteness.autocorrelation.tolist(),
        "inputs_seen": [c.input for c in v.cross if not c.independent],
    }


def _finite(value):
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
