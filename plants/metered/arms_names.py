"""Names of metered arms and of all their signals, and how far the arms turn."""

from __future__ import annotations

import numpy as np

from plants.drives.metering import VALVES
from plants.metered.arm import Arm, MotorArm
from plants.multibody.built import Built
from workbench.contract.errors import InputError
from workbench.contract.system import Signal

_PER_ARM = (
    ("θ", "rad", "angle of arm {}"),
    ("dθ", "rad/s", "its rate"),
    ("x", "m", "displacement of the rod of arm {}"),
)
_SHOWN = (
    ("l", "m", "pin to pin, arm {}"),
    ("v", "m/s", "velocity of the rod of arm {}"),
    ("f", "N", "force of the rod of arm {}"),
    ("stretch", "m", "rod ahead of the arm's pin, arm {}"),
    ("P_h", "Pa", "head side of arm {}"),
    ("P_r", "Pa", "rod side of arm {}"),
)


_TURNED = {"m": "rad", "m/s": "rad/s", "N": "N*m"}  # units of a motor's "rod"
_OF_ROD = ("x", "l", "dl", "v", "f", "stretch")


def _signals(kinds, arms, kind: str = ""):
    unit = lambda key, unit, arm: (
        _TURNED[unit] if isinstance(arm, MotorArm) and key in _OF_ROD else unit
    )
    return tuple(
        Signal(f"{key}_{a.name}", unit(key, of, a), meaning.format(a.name), kind)
        for a in arms
        for key, of, meaning in kinds
    )


class MeteredArmsNames(Built):
    """The part of `plants.metered.arms.MeteredArms` that lists its parts and names its signals."""

    arms: tuple[Arm | MotorArm, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.arms)

    @property
    def states(self):
        return _signals(_PER_ARM, self.arms)

    @property
    def inputs(self):
        return (
            *_signals((("u_c", "1", "command of arm {}"),), self.arms),
            *_signals((("u_a", "1", "opening of regeneration of arm {}"),), self._regenerating),
            *_signals(
                (("f_ey", "N", "force at the tip of arm {}, upwards"),), self.arms, "disturbance"
            ),
        )

    @property
    def _regenerating(self):
        """Arms whose regeneration is an input."""
        return tuple(a for a in self.arms if a.regeneration == "input")

    @property
    def outputs(self):
        return (
            *_signals(_SHOWN[:1], self.arms),
            *_signals((("dl", "m/s", "its rate, arm {}"),), self.arms),
            *self.states,
        )

    @property
    def monitors(self):
        return (
            *_signals(_SHOWN, self.arms),
            Signal("P", "Pa", "pressure of the pump"),
            Signal("r_P", "1", "pump's flow that its pressure leaves unaccounted for, over Q"),
        )

    @property
    def pressure_names(self):
        return tuple(f"{key}_{name}" for name in self.names for key in ("P_h", "P_r"))

    cuts_commands = True  # an opening beyond fully open is none

    def limits(self):
        return {f"u_c_{name}": (-1.0, 1.0) for name in self.names} | {
            f"u_a_{a.name}": (0.0, 1.0) for a in self._regenerating
        }

    @property
    def n(self) -> int:
        return len(self.arms)

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(f"θ_{name}" for name in self.names)

    def joint_range(self) -> list[tuple[float, float]]:
        """Angles between which the pin does not meet the line from base to joint, around θ_0; of a motor half a turn either way."""
        found = []
        for a in self.arms:
            if a.turns:
                low = a.θ_0 - np.pi
                width = 2 * np.pi
            else:
                dead = a.α + np.arctan2(a.r_by, a.r_bx)
                low = dead + np.pi * np.floor((a.θ_0 - dead) / np.pi)
                width = np.pi
            found.append((float(low), float(low + width)))
        return found

    def check_pose(self, q, where: str = "θ_0") -> None:
        """ValueError naming the first arm whose cylinder would point through its joint."""
        for name, θ, (low, high) in zip(self.joint_names, q, self.joint_range()):
            if not low < θ < high:
                raise InputError(
                    f"{where}: {name} = {θ:.4g} rad must lie in {low:.4g} … {high:.4g} rad"
                )

    def task_names(self, space: str):
        """Angles: the one space that its laws know."""
        return list(self.joint_names)

    def task(self, space: str, q):
        return list(q)

    @property
    def called(self):
        pairs = (("q", "θ"), ("dq", "dθ"), ("rod", "x"), ("f_p", "f"))
        return {f"{a}_{name}": f"{b}_{name}" for name in self.names for a, b in pairs}

    @property
    def causes(self):
        own = [f"{valve}_{n}" for n in self.names for valve in (*VALVES, "element", "tip")]
        return {name: (name,) for name in ("pump", "bleed", "relief", *own)}
