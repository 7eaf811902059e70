"""First gains of a PID for a linear plant, where nothing about the plant says any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.system import innermost
from workbench.contract.wrappers import Sampled

T_S = 1e-3  # s, that the gains are for
DISK_MARGIN = 0.75  # at every command, the others closed
FILTERS = (0.02, 0.2, 2e-3)  # s, time constants of the derivative's filter that are tried
UNLIMITED = 1e9  # limit of commands of which no limit is known, in their unit


# Structures that are tried, in this order: fields that stay, gains that are found.
STRUCTURES: tuple[tuple[dict[str, Any], tuple[str, ...]], ...] = (
    ({}, ("K_p", "K_i")),
    ({"K_p": (0.0,)}, ("K_i",)),
    *(({"τ": τ}, ("K_p", "K_i", "K_d")) for τ in FILTERS),
)


def first_gains(law) -> dict[str, Any]:
    """Gains of the fastest simple PI, else I, else PID law that keeps the disk margin around the law's own linear model.

    law: a PID around that model, whose other fields stay. One crossover ω after the other is tried, from high ones down, with
    K_p = 0.7/|G(jω)|, K_i = K_p ω/20, K_d = 2 K_p/ω, those that the structure has. Raises InputError where nothing simple does.
    """
    most = 0.0
    for fields, free in STRUCTURES:
        found, margin = _tried(replace(law, **fields), free)
        most = max(most, margin)
        if margin >= DISK_MARGIN:
            return {name: getattr(found, name) for name in ("K_p", "K_i", "K_d", "τ")}
    largest = f"the largest found is {most:.3g}" if most else "nothing simple is stable"
    raise InputError(
        f"PID: no default gains keep a disk margin of {DISK_MARGIN:g} at every command, sampled every {T_S:g} s; {largest}",
        mend="give K_p, K_i, K_d of your own, or choose LQR or MPC, which know all states",
    )


def _tried(law, free: tuple[str, ...]) -> tuple[Any, float]:
    """(the law with these gains found, its least disk margin); 0 where none of them is stable."""
    from controllers.pid_tuning.search import first_stable

    try:
        found, margin = first_stable(ClosedLoop(law.model, Sampled(law, T_S)), free, DISK_MARGIN)
    except InputError as why:
        if "crossovers" not in why.message:  # a wrong sign, or no effect at all
            raise
        return law, 0.0
    return innermost(found.controller), margin
