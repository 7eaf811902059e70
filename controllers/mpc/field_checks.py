"""What a predictive law refuses of its own numbers, before anything is computed with them."""

from __future__ import annotations

from controllers.mpc.parts import LONGEST
from workbench.contract.errors import InputError
from workbench.contract.system import find, names


def check_fields(law) -> None:
    """InputError for numbers that are no counts, limits or points, and for those that contradict each other."""
    _check_horizon(law)
    _check_commands(law)
    _check_model(law)


def _check_horizon(law) -> None:
    """Horizon, preview and blocks: whole numbers of samples that fit each other."""
    if not (isinstance(law.N, int) and law.N >= 1):
        raise InputError(
            f"MPC: horizon N = {law.N!r}; it must be a whole number of samples, 1 or more",
            mend="a horizon as long as the plant needs to settle",
        )
    if law.N > LONGEST:
        raise InputError(
            f"MPC: horizon N = {law.N}; at most {LONGEST} samples, the problem grows with their square",
            mend="a longer sample time, or a shorter horizon with terminal='cost'",
        )
    if law.preview is not None and not (isinstance(law.preview, int) and 0 <= law.preview):
        raise InputError(
            f"MPC: preview = {law.preview!r} samples; it must be a whole number, 0 or more, or None"
        )
    if any(not isinstance(b, int) or b < 1 for b in law.blocks) or sum(law.blocks) > law.N:
        raise InputError(
            f"MPC: blocks {law.blocks}: expected whole numbers of samples, 1 or more, "
            f"at most N = {law.N} together",
            mend="e.g. blocks=(1, 1, 2, 4): the last goes on to N",
        )


def _check_commands(law) -> None:
    """Raise InputError for limits of commands that contradict each other, and for a number of iterations that cannot be."""
    for low, high in zip(law.each("u_min"), law.each("u_max")):
        if not low < high:
            raise InputError(
                f"MPC: u_min, {low:g}, must be below u_max, {high:g}", mend="swap or widen them"
            )
    if not (isinstance(law.iterations, int) and 1 <= law.iterations <= 1000):
        raise InputError(
            f"MPC: iterations = {law.iterations!r}; it must be a whole number, 1 to 1000"
        )


def _check_model(law) -> None:
    """The point to linearise at, and what a model of its own for every sample allows."""
    for field, needed in (("x_0", law.model.states), ("u_0", law.commands)):
        given = getattr(law, field)
        if given and len(given) != len(needed):
            raise InputError(
                f"{field}: expected {len(needed)} numbers ({', '.join(names(needed))[:200]}), "
                f"got {len(given)}"
            )
    for name in law.working or ():
        find(law.model.states, name, "MPC, working")
    if law.relinearise and (law.extra or law.terminal == "set"):
        raise InputError(
            "MPC: with relinearise=True the problem changes every sample",
            mend="without `extra`, and with terminal='cost' or terminal='none'",
        )
