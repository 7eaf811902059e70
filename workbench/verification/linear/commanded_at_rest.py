"""What a loop commands where it is linearised at rest: valves opened by a hair to one side, and none of them just shut."""

from __future__ import annotations

import numpy as np

from workbench.contract.errors import InputError
from workbench.numerics.shut_valves import HAIR


def steer_to(w, steer, slope, missing) -> None:
    """Moves the references in w until the law commands what is wanted, by Newton's steps; InputError without a finite slope."""
    for _ in range(8):
        at = slope()
        if not np.isfinite(at).all():
            raise InputError(
                "no slope at rest: what the law commands changes there without bounds",
                mend="linearise where the law has a derivative",
            )
        step = np.linalg.lstsq(at, missing(), rcond=None)[0]
        if not np.isfinite(step).all():
            return
        w[steer] += step


def refuse_shut(loop, commands, wanted) -> None:
    """InputError where valves are just shut, to rounding, by the law or, where it does not command them, by default."""
    edges = loop.plant.just_shut
    at = {name: loop.defaults().get(name, 0.0) for name in edges}
    at |= dict(zip(commands, wanted))
    shut = [name for name, edge in edges.items() if abs(at[name] - edge) <= HAIR]
    if shut:
        raise InputError(
            f"no slope at rest: {', '.join(shut)} shuts its valves there, and what passes changes in another way to either side",
            mend="linearise where the valves are open",
        )
