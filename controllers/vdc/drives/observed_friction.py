"""Friction of a cylinder in the dissipation ledger: what the law requires against what rubs.

    d_friction = −Δẋ (f_fr − f_f) + Σ s (ẑ̇_law − ż),   d_hold = Σ s (ẑ̇ − ẑ̇_own),   d_parameters = Σ s (ẑ̇_own − ẑ̇_law)

where plant and law both have the friction law's states: s is the strain of its storage between the observer's ẑ and the bristles z,
ẑ̇_law the observer's rate by the law at the true speeds, ẑ̇_own at those that its own model tells (where it is not given, both are
taken to be one), ẑ̇ its rate in the loop. Elsewhere there is no storage, and d_hold is not named.

Source: [Petrovic22] (78) completed; the storages are those of `plants.components.friction`.
"""

from __future__ import annotations


def account(law, f_fr, f_f, Δx, v, rub, ẑ, ẑ_law, ẑ_flow, ẑ_own=None) -> tuple:
    """(storage [J], perturbation → W) of the friction law `law` at speed v, with its true states `rub`."""
    d = {"friction": -Δx * (f_fr - f_f)}
    if not rub or len(rub) != len(ẑ):
        return 0.0, d
    strain = law.strain(ẑ, rub)
    true = law.rate(v, rub)
    d["friction"] = d["friction"] + sum(s * (a - b) for s, a, b in zip(strain, ẑ_law, true))
    told = ẑ_law if ẑ_own is None else ẑ_own
    d["hold"] = sum(s * (a - b) for s, a, b in zip(strain, ẑ_flow, told))
    if ẑ_own is not None:
        d["parameters"] = sum(s * (a - b) for s, a, b in zip(strain, told, ẑ_law))
    return law.storage(ẑ, rub), d
