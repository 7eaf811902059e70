"""Prediction-error identification of continuous-time transfer functions, output-error form.

    θ̂ = argmin Σ_records w² Σ_t (y(t) − ŷ(t, θ) − offset)²

ŷ is the exact response (`response`), its gradient exact, each record's offset (and trend, on request) projected out. The
search starts from instrumental-variable guesses (`start`) and a scan over the delay; steps that leave the stable region
are refused, and a search that ends on its edge says so. For white noise this is the maximum-likelihood estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from workbench.contract.errors import InputError
from workbench.identification.causality import refuse_acausal
from workbench.identification.delays import delays_in_words, held_delays, valleys, widened
from workbench.identification.descent import Task, edge, optimised
from workbench.identification.fit_notes import _at_edge, _derived, _warnings
from workbench.identification.model import LinearModel, Shape
from workbench.identification.records import Record, same_units
from workbench.identification.search import search
from workbench.identification.uncertainty import (
    Combination,
    Estimate,
    Noise,
    autoregression,
    covariance,
    estimates,
    open_combinations,
)

MORE = 3  # samples a parameter needs at least


@final
@dataclass(frozen=True, eq=False)
class Fit:
    """What was found.

    model       LinearModel with the estimated numbers
    estimates   parameters with 95 % intervals: K, b_j, a_j, τ of each channel
    derived     Σλ, single lags or ω and ζ of pole pairs, by the delta method
    covariance  (p, p) of the parameters, in their order
    open        combinations of parameters that the data leave open
    notes       what a reader must know, in words
    residuals   one array a record (scored samples, in units of the output)
    percent     fit of each record, 100 (1 − ‖e‖/‖y − ȳ‖)
    rss         weighted sum of squared residuals; samples, freedom: N and N − p − offsets
    noise       the residuals as an autoregression
    converged   whether the search ended at a minimum, message its reason
    edge        input → how its channel stands on the edge of what may be searched, in words: no free minimum
    """

    model: LinearModel
    shapes: tuple[Shape, ...]
    records: tuple[Record, ...]
    estimates: tuple[Estimate, ...]
    derived: tuple[Estimate, ...]
    covariance: np.ndarray
    open: tuple[Combination, ...]
    notes: tuple[str, ...]
    residuals: tuple[np.ndarray, ...]
    percent: tuple[float, ...]
    rss: float
    samples: int
    freedom: int
    noise: Noise
    converged: bool
    message: str
    edge: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Estimate:
        """Estimate by name ("K_X", "Σλ_X"); InputError with the known ones."""
        for e in (*self.estimates, *self.derived):
            if e.name == name:
                return e
        raise InputError(
            f"there is no estimate {name!r}",
            mend=f"choose from {', '.join(e.name for e in (*self.estimates, *self.derived))}",
        )


def fit(
    records: Record | Sequence[Record],
    shapes: Shape | Sequence[Shape],
    output: str = "",
    *,
    trend: bool = False,
    noise: str = "coloured",
    weights: Sequence[float] | str = "equal",
    causality: str = "refuse",
    longest_delay: float | None = None,
    start: LinearModel | None = None,
) -> Fit:
    """Identify one output's transfer functions from one or more records.

    shapes         one a channel; an input must move in at least one record
    output         its name; may be left out when records have one
    trend          also take a straight line out of each record (a constant input error ahead of an integrator)
    noise          "coloured" (intervals allow for correlated residuals) or "white"
    weights        "equal", "noise" (second pass, records weighted by 1/rms residual), or one number a record
    causality      "refuse" or "ignore" outputs that lead their inputs
    longest_delay  end of the scan, s (a tenth of the shortest record)
    start          begin at this model instead of searching for guesses

    Raises InputError for data that cannot answer the question: constant columns, too few samples, swapped columns.
    """
    records = [records] if isinstance(records, Record) else list(records)
    shapes = (shapes,) if isinstance(shapes, Shape) else tuple(shapes)
    output = output or (records[0].output_names[0] if records else "")
    units = check(records, shapes, output, causality)
    given = _weights(records, weights, noise)
    task = Task(tuple(records), shapes, output, tuple(given), trend)
    channels, result = search(task, start, longest_delay)
    if isinstance(weights, str) and weights == "noise" and len(records) > 1:
        rms = np.array(
            [
                max(np.sqrt(np.mean(e**2)), 1e-9 * np.ptp(r.output(output)))
                for e, r in zip(task.residuals(channels), records)
            ]
        )
        task = replace(task, weights=tuple(np.min(rms) / rms))
        channels, result = optimised(task, channels)
    return _summary(task, channels, result, units, noise)


def _weights(records, weights: Sequence[float] | str, noise: str) -> np.ndarray:
    """One number a record; InputError for words that are none, also of the noise."""
    given = np.ones(len(records)) if isinstance(weights, str) else np.asarray(weights, float)
    if (
        isinstance(weights, str)
        and weights not in ("equal", "noise")
        or given.shape != (len(records),)
        or not (np.isfinite(given) & (given > 0)).all()
        or noise not in ("coloured", "white")
    ):
        raise InputError(
            f"weights {weights!r}, noise {noise!r}",
            mend="weights: 'equal', 'noise' or one positive number a record; noise: 'coloured' or 'white'",
        )
    return given


def check(records, shapes, output: str, causality: str = "refuse") -> dict[str, str]:
    """Units of the signals, or InputError for data that cannot answer the question."""
    if not records or not shapes:
        raise InputError(
            "nothing to identify", mend="give at least one record and one channel (Shape)"
        )
    if causality not in ("refuse", "ignore"):
        raise InputError(f"causality: {causality!r}", mend="choose 'refuse' or 'ignore'")
    units = same_units(records)
    inputs = [s.input for s in shapes]
    if len(set(inputs)) < len(inputs):
        raise InputError(
            f"two channels for one input: {', '.join(inputs)}", mend="give each input one Shape"
        )
    for r in records:
        if not np.ptp(r.output(output)[r.start :]):
            raise InputError(
                f"{output} is constant: nothing to identify",
                file=r.source or None,
                key=output,
                mend="check the sensor and the column",
            )
    for name in inputs:
        holding = [r for r in records if name in r.input_names]
        if not holding:
            records[0].input(name)  # raises, with the nearest names
        if not any(np.ptp(r.input(name)) for r in holding):
            raise InputError(
                f"{name} is constant: its effect cannot be seen",
                file=holding[0].source or None,
                key=name,
                mend="excite it (pulse, step, chirp), or leave the input out",
            )
    N = sum(len(r) - r.start for r in records)
    p = sum(s.size for s in shapes) + len(records)
    if N < MORE * p:
        raise InputError(
            f"{N} samples are too few for {p} parameters",
            file=records[0].source or None,
            mend=f"record at least {MORE * p}, or lower the order",
        )
    if causality == "refuse":
        for r in records:
            refuse_acausal(r, inputs, output)
    return units


# ---- the summary --------------------------------------------------------------------------------------------------
def _summary(task: Task, channels, result, units, noise: str) -> Fit:
    task, channels, result, held = _not_negative(task, channels, result)
    θ = task.parameters(channels)
    names = tuple(n for s in task.shapes for n in s.names())
    lost = θ.size + (1 + task.trend) * len(task.records)
    pieces = task.residuals(channels)
    weighted = [w * e for w, e in zip(task.weights, pieces)]
    model_of_noise = autoregression(weighted)
    coloured = model_of_noise if noise == "coloured" else None
    C = covariance(task.jacobian(channels), weighted, lost, coloured, task.sizes(channels))
    N = sum(e.size for e in pieces)
    freedom = N - lost if noise == "white" else max(model_of_noise.effective - lost, 1.0)
    spelt = [u for s in task.shapes for u in s.units(units[s.input], units[task.output])]
    along = valleys(task, channels, lost, coloured, freedom, held)
    found = widened(estimates(names, θ, spelt, C, freedom), along)
    derived, more = _derived(task.shapes, channels, C, freedom, along)
    derived += held_delays(along, held)
    undamped, vanished = edge(task, channels)
    notes = [*delays_in_words(along, held, found, derived), *more, *_at_edge(undamped, vanished)]
    notes += _warnings(task, channels, result, found)
    model = LinearModel(
        task.output, tuple(channels), units[task.output], tuple(units[s.input] for s in task.shapes)
    )
    percent = tuple(
        100 * (1 - np.linalg.norm(e) / np.linalg.norm(task.free(r.output(task.output), r)))
        for e, r in zip(pieces, task.records)
    )
    rss = float(sum(e @ e for e in weighted))
    return Fit(
        model=model,
        shapes=task.shapes,
        records=task.records,
        estimates=found,
        derived=derived,
        covariance=C,
        open=open_combinations(names, θ, C, freedom),
        notes=tuple(notes),
        residuals=tuple(pieces),
        percent=percent,
        rss=rss,
        samples=N,
        freedom=N - lost,
        noise=model_of_noise,
        converged=result.status > 0 and not undamped,
        message=result.message,
        edge=vanished | undamped,
    )


def _not_negative(task: Task, channels, result):
    """(task, channels, result, inputs whose delay is held): a delay estimated below zero is held at zero.

    The model allows τ < 0, so that an interval around 0 is honest; a plant does not.
    """
    early = [
        i
        for i, (c, s) in enumerate(zip(channels, task.shapes))
        if s.estimates_delay and c.delay < 0
    ]
    if not early:
        return task, channels, result, ()
    held = tuple(task.shapes[i].input for i in early)
    shapes = tuple(replace(s, delay=None) if i in early else s for i, s in enumerate(task.shapes))
    task = replace(task, shapes=shapes)
    channels, result = optimised(
        task, [replace(c, delay=0.0) if i in early else c for i, c in enumerate(channels)]
    )
    return task, channels, result, held
