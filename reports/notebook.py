"""For notebooks: a report in one line, and anyone's loop under sliders. Works in Jupyter and marimo alike, with nothing installed.

What is shown is one HTML text in a frame of its own, so its sliders work wherever HTML is shown, in an exported page too.
"""

from __future__ import annotations

import html
import itertools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.cases.edit import changed
from workbench.cases.file import Case
from workbench.cases.scenario import default_scenario
from workbench.commands.compare import under
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.kinds import shown
from workbench.contract.system import innermost, names, rewrapped
from workbench.contract.units import format_quantity, measured, quantity
from workbench.run.log import Log
from workbench.run.scenario import Scenario, stated
from workbench.verification.judge import examine
from workbench.verification.run import Run, run_many
from workbench.verification.run_claims import Tracking
from workbench.verification.verdicts import Verdicts

MOST_RUNS = 81  # of one exploration, all sliders together
STOPS = (9, 9, 4, 3)  # stops of each slider where there are so many of them
POINTS = 240  # instants of a curve that are shown
PAGE = Path(__file__).parent / "templates" / "explore.html"


@dataclass(frozen=True, eq=False)
class Reported:
    """A report that is written: where, and the verdicts in it."""

    path: str
    verdicts: Verdicts
    log: Log

    def __repr__(self) -> str:
        return f"{self.path}\n{self.verdicts!r}"

    def _repr_html_(self) -> str:
        return f"<p><code>{html.escape(self.path)}</code></p>{self.verdicts._repr_html_()}"


def report(
    loop: ClosedLoop,
    scenario: Scenario | None = None,
    path: str | os.PathLike = "report.pdf",
    claims: Sequence | None = None,
) -> Reported:
    """Verify a loop and write its report as PDF to `path`; returns the verdicts and the log with it.

    scenario, claims: by default as for `verify`. Raises InputError as `verify` does, and where `path` cannot be written.
    """
    from reports.content import Content
    from reports.document import write_report
    from workbench.files.atomic import check_writable
    from workbench.verification import default_claims

    check_writable(path)
    scenario = default_scenario(loop) if scenario is None else stated(scenario)
    claims = tuple(claims) if claims is not None else default_claims(loop, scenario)
    case = Case(loop.plant.title, loop.plant, loop.controller, loop, scenario, claims)
    found = examine(loop, scenario, claims)
    write_report(path, Content.of(case, found))
    return Reported(os.fspath(path), Verdicts(found.verdicts), found.log)


@dataclass(frozen=True, eq=False)
class Explored:
    """Runs of one loop over the stops of some sliders; in a notebook, the sliders.

    stops    slider → its values in SI;  units: theirs
    rows     one a combination, the last slider fastest: {"error": …, "rms": …, "settled": …, "words": …}
    """

    stops: Mapping[str, tuple[float, ...]]
    units: Mapping[str, str]
    rows: tuple[dict, ...]
    data: dict

    def best(self) -> dict[str, float]:
        """The values with the smallest rms error among the runs that were completed and did settle. InputError where none did."""
        known = [
            (row["rms"], at)
            for row, at in zip(self.rows, itertools.product(*self.stops.values()))
            if row["settled"] and row["rms"] is not None
        ]
        if not known:
            raise InputError("explore: no run settled", mend="widen the sliders, or run it longer")
        return dict(zip(self.stops, min(known)[1]))

    def __repr__(self) -> str:
        spans = (
            f"{name} {format_quantity(v[0], self.units[name])} … {format_quantity(v[-1], self.units[name])}"
            for name, v in self.stops.items()
        )
        return f"explored {', '.join(spans)}: {len(self.rows)} runs (a notebook shows sliders)"

    def _repr_html_(self) -> str:
        page = PAGE.read_text("utf-8").replace(
            "/*DATA*/", json.dumps(self.data).replace("</", "<\\/")
        )
        height = 120 + 40 * len(self.stops) + 170 * len(self.data["curves"])
        return (
            f'<iframe title="explore" style="width:100%;height:{height}px;border:0" '
            f'srcdoc="{html.escape(page, quote=True)}"></iframe>'
        )


def explore(
    loop: ClosedLoop,
    sliders: Mapping[str, tuple],
    scenario: Scenario | None = None,
    show: Sequence[str] | str = (),
) -> Explored:
    """Run a loop at every combination of some values, and show it under sliders.

    sliders   name → (least, most) or (least, most, stops), numbers in SI or text with a unit. A name is a gain of the law
              (`λ`, `K_p`; `lambda` as well), or a number of the plant as `changed` takes it (`payload.mass`)
    scenario  what is run; left out, the path that a case file gets which states none
    show      signals to draw, with * for any letters; the tracking error, outputs and commands where left out

        fp.explore(loop, {"λ": (4, 16), "payload.mass": ("0 kg", "80 kg")})

    At most 81 runs: 9 stops of one or two sliders, 4 of three, 3 of four. A change of the plant leaves the law's model as it is.
    Raises InputError for names that fit nothing and values that cannot be.
    """
    scenario = default_scenario(loop) if scenario is None else stated(scenario)
    _check_sliders(sliders)
    units = {name: _unit(loop, name, span) for name, span in sliders.items()}
    stops = {
        name: _stops(name, span, units[name], STOPS[len(sliders) - 1])
        for name, span in sliders.items()
    }
    points = list(itertools.product(*stops.values()))
    if len(points) > MOST_RUNS:
        raise InputError(
            f"explore: {len(points)} runs, at most {MOST_RUNS}", mend="give fewer sliders or stops"
        )
    jobs = [(_moved(loop, dict(zip(stops, at))), scenario) for at in points]
    signals = _shown(loop, show)
    found: list[_Seen] = run_many(jobs, lambda run: _measured(run, signals))
    first = next((seen for seen in found if seen.curves), _Seen({}, [], []))
    data = {
        "sliders": [
            {"name": n, "said": [format_quantity(v, units[n]) for v in values]}
            for n, values in stops.items()
        ],
        "rows": [
            {**seen.row, "time": seen.time, "curves": [curve.values for curve in seen.curves]}
            for seen in found
        ],
        "curves": [{"name": curve.name, "unit": curve.unit} for curve in first.curves],
        "time": first.time,
    }
    return Explored(stops, units, tuple(seen.row for seen in found), data)


def _check_sliders(sliders: Mapping[str, tuple]) -> None:
    """InputError for what is no mapping of names to (least, most), or too many of them."""
    if not isinstance(sliders, Mapping):
        raise InputError(
            f"explore: expected sliders by name, got {shown(sliders)}", mend="write {'λ': (4, 16)}"
        )
    if not 1 <= len(sliders) <= len(STOPS):
        raise InputError(
            f"explore: {len(sliders)} sliders",
            mend=f"give 1 to {len(STOPS)}, such as {{'λ': (4, 16)}}",
        )
    for name, span in sliders.items():
        if not isinstance(span, (tuple, list)) or len(span) not in (2, 3):
            raise InputError(
                f"explore: {name}: expected (least, most), got {shown(span)}",
                mend=f"write {{'{name}': (4, 16)}}",
            )


# ---- values -------------------------------------------------------------------------------------------------------
def _field(loop: ClosedLoop, name: str) -> str | None:
    """The law's field of that name, whichever way it is spelled."""
    from workbench.cases import shape

    key = shape.canonical(type(innermost(loop.controller)), name)
    return (
        key if key and isinstance(getattr(innermost(loop.controller), key), float | tuple) else None
    )


def _unit(loop: ClosedLoop, name: str, span: tuple) -> str:
    from workbench.contract.parameters import described

    if key := _field(loop, name):
        info = described(innermost(loop.controller)).get(key)
        return info.unit if info is not None else "1"
    given = [measured(v) for v in span[:2] if isinstance(v, str)]
    return next((pair[1] for pair in given if pair and pair[1]), "1") if given else "1"


def _stops(name: str, span: tuple, unit: str, usual: int) -> tuple[float, ...]:
    try:
        low, high = (quantity(v, unit) for v in span[:2])
    except InputError as why:
        raise InputError(f"explore: {name}: {why.message}", mend=why.mend) from None
    count = int(span[2]) if len(span) == 3 else usual
    if not (low < high and count >= 2):
        raise InputError(
            f"explore: {name}: from {low:g} to {high:g} in {count} stops",
            mend="give the least first, and two stops or more",
        )
    return tuple(float(f"{v:.6g}") for v in np.linspace(low, high, count))


def _moved(loop: ClosedLoop, values: Mapping[str, float]) -> ClosedLoop:
    plant = loop.plant
    law = innermost(loop.controller)
    gains: dict[str, Any] = {}
    numbers: dict[str, float] = {}
    for name, value in values.items():
        key = _field(loop, name)
        if key is None:
            numbers[name] = value
        else:
            gains[key] = (value,) if isinstance(getattr(law, key), tuple) else value
    if numbers:
        plant = changed(plant, numbers)
    return ClosedLoop(
        plant, rewrapped(loop.controller, replace(law, **gains)) if gains else loop.controller
    )


# ---- runs ---------------------------------------------------------------------------------------------------------
def _shown(loop: ClosedLoop, show: Sequence[str] | str) -> tuple[str, ...]:
    if show:
        return (show,) if isinstance(show, str) else tuple(show)
    return tuple(names(loop.plant.outputs)[:3]) + tuple(
        names(innermost(loop.controller).commands)[:3]
    )


class _Curve(NamedTuple):
    name: str
    unit: str
    values: list


class _Seen(NamedTuple):
    """What is shown of a run: its row, instants in s, and curves over them."""

    row: dict
    time: list
    curves: list[_Curve]


def _measured(run: Run, show: Sequence[str]) -> _Seen:
    log = run.log
    said = under(run, min(Tracking().settle, log.time[-1] / 3))
    row = {
        "error": _finite(said.error),
        "rms": _finite(said.rms),
        "settled": bool(said.settled),
        "words": said.words,
        "said": f"largest error {_said(said.error, said.unit)}, rms {_said(said.rms, said.unit)}",
    }
    every = max(1, len(log) // POINTS)
    time = [round(float(t), 4) for t in log.time[::every]]
    curves = []
    if run.tool_error is not None:
        curves.append(_Curve("tracking error", said.unit, _rounded(run.tool_error[::every])))
    for name in log.picked(show):
        curves.append(_Curve(name, log.signal(name).unit, _rounded(log.array(name)[::every])))
    return _Seen(row, time, curves)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _said(value: float, unit: str) -> str:
    return format_quantity(value, unit, 3) if np.isfinite(value) else "none"


def _rounded(values: np.ndarray) -> list[float | None]:
    return [float(f"{v:.5g}") if np.isfinite(v) else None for v in values]
