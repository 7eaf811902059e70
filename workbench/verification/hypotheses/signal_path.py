"""Hypotheses about the path of signals between plant and law: no hold, delay, filter, noise or quantiser."""

from __future__ import annotations

from workbench.contract.wrappers import Delayed, Filtered, Noisy, Quantised, Sampled, Saturated
from workbench.verification.verdict import Assumption


def wrappers(controller) -> list:
    """Everything around the law, from the outside in."""
    found = []
    while controller.inner is not None:
        found.append(controller)
        controller = controller.inner
    return found


def signal_path(run):
    """No hold, delay, filter, noise or quantiser between plant and law."""
    around = wrappers(run.loop.controller)
    T = run.loop.controller.period
    lag = sum(w.delay for w in around if isinstance(w, Delayed))
    wrong = [
        *("noise" for w in around if isinstance(w, Noisy) and w.σ > 0),
        *("quantised" for w in around if isinstance(w, Quantised)),
        *(f"filter {w.frequency:g} Hz" for w in around if isinstance(w, Filtered)),
    ]
    plain = (Delayed, Filtered, Noisy, Quantised, Sampled, Saturated)
    other = [type(w).__name__ for w in around if not isinstance(w, plain) and not w.supplies]
    yield Assumption(
        "continuous law, no hold",
        T is None,
        None,
        "",
        f"hold {1e3 * T:g} ms" if T else "",
        "Theorem 5",
        terms=("hold",),
    )
    yield Assumption(
        "no delay", lag == 0, None, "", f"delay {1e3 * lag:g} ms" if lag else "", "Theorem 5"
    )
    yield Assumption(
        "true states measured",
        not wrong,
        None,
        "",
        ", ".join(wrong),
        "Theorem 5",
        terms=("measurement",),
    )
    if other:
        yield Assumption(
            "nothing unknown between plant and law",
            None,
            None,
            "",
            ", ".join(other),
            "Theorem 5",
            terms=("measurement", "saturation", "hold"),
        )
