"""How ḟ_pr, the rate of the required piston forces, is formed from what a law remembers.

    "model", "desired"   exact, along the model's or the desired acceleration: no memory
    "dirty"              s/(1 + τ s)
    "difference"         backward difference (sampled) filtered at `cutoff`
    "zero"               none

Source: [Petrovic22] (90).
"""

from __future__ import annotations

from math import pi
from typing import Annotated, Literal

import numpy as np

from workbench.contract.parameters import Unit, positive
from workbench.contract.system import Signal

Derivative = Literal["model", "desired", "dirty", "difference", "zero"]
EXACT = ("model", "desired")
DirtyTime = Annotated[float, Unit("s"), "time constant of the dirty derivative", positive]
Cutoff = Annotated[float, Unit("Hz"), "filter of the backward difference", positive]
USUAL_τ = 5e-3  # s
USUAL_CUTOFF = 20.0  # Hz


def memory(kind: str, labels) -> list[Signal]:
    """Signals of what the law remembers, for actuators called `labels`."""
    if kind == "dirty":
        return [
            Signal(f"f_pr{k}_slow", "N", "required piston force behind its dirty derivative")
            for k in labels
        ]
    if kind == "difference":
        return [
            *(Signal(f"f_pr{k}_last", "N", "required piston force one sample ago") for k in labels),
            *(Signal(f"df_pr{k}_filtered", "N/s", "filtered difference") for k in labels),
        ]
    return []


def rate(law, kept, f_pr) -> list:
    """ḟ_pr of a law that has `derivative`, `τ` and `cutoff`, from its memory `kept`."""
    n = len(f_pr)
    if law.derivative == "dirty":
        return [(f - s) / law.τ for f, s in zip(f_pr, kept)]
    if law.derivative == "difference":
        # Sampled, s is f_pr of this very sample and d the filtered difference; in continuous time d stays 0.
        ω = 2 * pi * law.cutoff
        return [d + ω * (f - s) for d, f, s in zip(kept[n:], f_pr, kept[:n])]
    return [0.0] * n


def flow(law, kept, f_pr) -> list:
    """Rate of the memory in continuous time."""
    n = len(f_pr)
    if law.derivative == "dirty":
        return [(f - s) / law.τ for f, s in zip(f_pr, kept)]
    if law.derivative == "difference":  # continuous twin of the filtered difference
        ω = 2 * pi * law.cutoff
        return [*(ω * (f - s) for f, s in zip(f_pr, kept[:n])), *[0.0] * n]
    return []


def after(law, T_s, kept, f_pr) -> list:
    """The memory after a sample of T_s seconds."""
    n = len(f_pr)
    if law.derivative == "dirty":
        share = 1 - np.exp(-T_s / law.τ)
        return [s + share * (f - s) for f, s in zip(f_pr, kept)]
    if law.derivative == "difference":
        share = 1 - np.exp(-2 * pi * law.cutoff * T_s)
        filtered = [
            d + share * ((f - last) / T_s - d) for f, last, d in zip(f_pr, kept[:n], kept[n:])
        ]
        return [*f_pr, *filtered]
    return []


def begun(law, f_pr) -> list:
    """The memory at the start of a run."""
    if law.derivative == "dirty":
        return list(f_pr)
    return [*f_pr, *[0.0] * len(f_pr)] if law.derivative == "difference" else []
