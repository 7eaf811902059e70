"""What all methods say alike of a probability: the claim as a sentence, numbers of a draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KEY = "probability"


def words(claim: Any) -> str:
    """The claim as a sentence."""
    asked = "; ".join(" ".join(sentence.split()) for sentence in claim.sentences)
    each = " each" if len(claim.sentences) > 1 else ""
    return (
        f"violated in at most {percent(claim.at_most)} of runs{each}, with {percent(claim.confidence)} confidence, "
        f"over {', '.join(claim.over)}: {asked}"
    )


def percent(p: float) -> str:
    """A probability as people read it: in per cent, or as a power of ten below 0.01 %."""
    return f"{100 * p:.6g} %" if p >= 1e-4 or p == 0 else f"{p:.3g}"


def bound(p: float) -> str:
    """A bound of a probability, with as many digits as it is worth."""
    return f"{100 * p:.3g} %" if p >= 1e-4 or p == 0 else f"{p:.3g}"


def draw(values: Mapping[str, float]) -> str:
    """The numbers of a draw, in SI."""
    told = ", ".join(f"{name} = {value:.6g}" for name, value in values.items())
    return f"{told} (SI)"
