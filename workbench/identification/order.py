"""Which order? Several structures are fitted and compared.

AIC and BIC count every parameter, those of the noise's autoregression included, so that correlated residuals do not
pass for information: BIC = N ln σ² + p ln N with σ the innovations' standard deviation. The F test compares neighbours.
A zero on top of a pole, or a highest coefficient that is not identified, says that the order is too high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from workbench.contract.errors import InputError
from workbench.identification.fit import Fit, fit
from workbench.identification.model import Shape
from workbench.identification.records import Record

NEAR = 0.05  # share of a pole's size: a zero so near cancels it


@dataclass(frozen=True, eq=False)
class Candidate:
    """One structure: its fit, criteria (lower is better), p of the F test against the one before, cancelling pairs."""

    fit: Fit
    aic: float
    bic: float
    p_value: float | None
    cancelling: tuple[str, ...]

    @property
    def orders(self) -> tuple[int, ...]:
        """Orders of the channels."""
        return tuple(s.order for s in self.fit.shapes)

    @property
    def too_high(self) -> bool:
        """Whether a pole is cancelled or the highest coefficient of a channel not identified."""
        top = [f"a_{s.lags}_{s.input}" for s in self.fit.shapes if s.lags]
        return bool(self.cancelling) or any(not self.fit[name].identified for name in top)


@dataclass(frozen=True, eq=False)
class Selection:
    """Candidates by rising order and the chosen one; why others could not be fitted, in words."""

    candidates: tuple[Candidate, ...]
    best: Candidate
    failed: tuple[str, ...] = ()


def select_order(
    records: Record | Sequence[Record],
    inputs: Sequence[str] | str,
    output: str = "",
    orders: Sequence[int] = (1, 2, 3, 4, 5),
    *,
    zeros: int = 0,
    integrators: int = 0,
    delay: float | bool | None = None,
    **options,
) -> Selection:
    """Fits with one order for all inputs, for every order of a list; options as for `fit`."""
    inputs = [inputs] if isinstance(inputs, str) else list(inputs)
    tried = [
        [Shape(name, n, min(zeros, n - 1), integrators, delay) for name in inputs]
        for n in sorted(set(orders))
        if n >= max(integrators, 1)
    ]
    return compare(records, tried, output, **options)


def compare(
    records: Record | Sequence[Record],
    structures: Sequence[Sequence[Shape]],
    output: str = "",
    **options,
) -> Selection:
    """Fit every structure; the best is the lowest BIC among those that converged and are not too high.

    A structure that no model of fits is left out and named in `failed`; InputError when none is left.
    """
    found: list[Candidate] = []
    failed: list[str] = []
    for k, shapes in enumerate(structures):
        try:
            made = fit(records, shapes, output, **options)
        except InputError as why:
            if k + 1 == len(structures) and not found:
                raise
            failed.append(f"order {', '.join(str(s.order) for s in shapes)}: {why.message}")
            continue
        aic, bic = criteria(made)
        found.append(
            Candidate(
                made, aic, bic, f_test(found[-1].fit, made) if found else None, cancelling(made)
            )
        )
    if not found:
        raise InputError("no order to try", mend="give orders not below the number of integrators")
    sound = [c for c in found if c.fit.converged and not c.too_high] or found
    return Selection(tuple(found), min(sound, key=lambda c: c.bic), tuple(failed))


def criteria(made: Fit) -> tuple[float, float]:
    """AIC and BIC."""
    N = made.samples
    p = made.samples - made.freedom + made.noise.order
    likelihood = N * 2 * np.log(max(made.noise.σ, np.finfo(float).tiny))
    return float(likelihood + 2 * p), float(likelihood + p * np.log(N))


def f_test(small: Fit, large: Fit) -> float | None:
    """p-value of 'the larger model explains no more'; None when it has no more parameters."""
    more = small.freedom - large.freedom
    if more <= 0 or large.rss <= 0:
        return None
    F = (small.rss - large.rss) / more / (large.rss / large.freedom)
    return float(stats.f.sf(max(F, 0.0), more, large.freedom))


def cancelling(made: Fit) -> tuple[str, ...]:
    """Poles with a zero on top, in words."""
    return tuple(
        f"{c.input}: pole {p:.4g} and zero {z:.4g} 1/s"
        for c in made.model.channels
        for p in c.poles
        for z in c.zeros
        if abs(p - z) < NEAR * abs(p) and p.imag >= 0
    )
