"""Units of PID gains for the commands u and positions y of a plant: K_p in u/y, K_i in u/(y s), K_d and K_v in u s/y."""

from __future__ import annotations

from workbench.contract.errors import InputError
from workbench.contract.system import Signal, controls, find


def gain_units_on(model=None, signals=()) -> dict[str, str]:
    """Units of the gains for the commands and positions of `model`: K_p in u/y, K_i in u/(y s), …

    Plain numbers ("1", SI) where the actuators differ in them; {} where the signals are not the model's; words without a model.
    """
    if model is None:
        return _gain_units("command", "position")
    commands = controls(model)
    try:
        positions = positions_of(model, signals, len(commands))
    except InputError:
        return {}
    us = {s.unit for s in commands}
    ys = {s.unit for s in positions}
    if len(us) != 1 or len(ys) != 1:
        return dict.fromkeys(("K_p", "K_i", "K_d", "K_v", "K_f", "u_max", "w"), "1")
    return _gain_units(us.pop(), ys.pop())


def positions_of(model, names, n: int) -> tuple[Signal, ...]:
    """The measured position of every actuator."""
    if not names and "piston" in model.spaces:
        names = model.task_names("piston")
    return (
        tuple(find(model.outputs, name, "PID, measurement") for name in names) or model.outputs[:n]
    )


def _gain_units(u: str, y: str) -> dict[str, str]:
    return {
        "K_p": _ratio(u, y),
        "K_i": _ratio(u, y, -1),
        "K_d": _ratio(u, y, 1),
        "K_v": _ratio(u, y, 1),
        "K_f": _ratio(u, "N"),
        "u_max": u,
        "w": u,
    }


def _ratio(u: str, y: str, seconds: int = 0) -> str:
    """Unit of u/y, times seconds (1) or by them (−1): "V/(m s)", "1/s" where both are metres."""
    top, bottom = (
        [f"({x})" if set(" /") & set(x) else x for x in (one,) if x != "1" and u != y]
        for one in (u, y)
    )
    if seconds:
        (top if seconds > 0 else bottom).append("s")
    over = bottom[0] if len(bottom) == 1 else f"({' '.join(bottom)})"
    return (" ".join(top) or "1") + (f"/{over}" if bottom else "")
