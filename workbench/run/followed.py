"""The reference of a loop in every space that its controller asks for it.

Whatever space the reference is given in (joint, piston, cartesian), a controller may ask for signals of any other: the
plant's `task(space, q)` is inverted (Newton, exact derivatives) and pushed forward. A reference in output space has one
component for each output that the controller follows, or for each output, or one for all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from workbench.contract.capabilities import HasTask
from workbench.contract.errors import InputError
from workbench.contract.own_text import own
from workbench.contract.system import System, find, names
from workbench.run.reference import Hold
from workbench.run.spaces import PATHS, SHORT, pushed, task_values, to_joints, tool
from workbench.run.targets import _task_names, check_space, padded, repeated, target_name, width

ORDER = 3  # derivatives carried through changes of space
SPACES = ("cartesian", "piston", "joint")


class Followed:
    """A reference resolved for a plant, and the signals of it that a controller asks for.

    wanted: (name, order of the derivative) of every such signal. x0: where the machine stands before the run's offset.
    `reference` is None where nothing is wanted. Raises InputError where the reference does not fit the plant.
    """

    def __init__(self, plant: System, reference, wanted: list[tuple[str, int]], x0: np.ndarray):
        self.plant = plant
        self.wanted = wanted
        self.x0 = x0
        self.q0 = np.array(plant.positions(x0))
        self.reference = self._resolved(reference) if wanted else None
        self._last_sampled = None
        self._last_joints = None

    def _resolved(self, reference):
        if reference is None:
            first, _ = self.wanted[0]
            reference = Hold(_spaces(self.plant).get(first, "output"), "start")
        if reference.space == "output":
            return self._of_outputs(reference)
        check_space(self.plant, reference.space)
        start = tuple(float(v) for v in task_values(self.plant, reference.space, self.q0))
        given = width(reference)
        if given in (None, len(start)):
            return reference.resolve(start)
        if reference.space != "cartesian" or not 2 <= given < len(start):
            known = ", ".join(self.plant.task_names(reference.space))
            raise InputError(
                f"reference: {given} components in {reference.space} space, "
                f"the plant has {len(start)} ({known})"
            )
        # A planar path: what is redundant is held where it starts.
        return padded(reference, start[given:]).resolve(start)

    def _of_outputs(self, reference):
        outputs = self.plant.outputs
        followed = self._outputs_followed
        for name in followed:
            find(outputs, name, "reference of the controller")
        given = width(reference)
        if given not in (None, 1, len(followed), len(outputs)):
            raise InputError(
                f"reference: {given} components for {len(outputs)} outputs ({', '.join(names(outputs))})",
                mend=f"give one for each that is followed ({', '.join(followed)}), "
                "or for each of them, or one for all",
            )
        if given == 1:
            given = len(followed)
            reference = repeated(reference, given)
        values = self.plant.out(0.0, [float(v) for v in self.x0])
        y = dict(zip(names(outputs), map(float, values)))
        return reference.resolve(tuple(y[n] for n in self._components(given or len(outputs))))

    @property
    def _outputs_followed(self) -> list[str]:
        """Outputs the controller asks a reference for, in its order."""
        return list(dict.fromkeys(name for name, _ in self.wanted))

    @property
    def components(self) -> list[str]:
        """Outputs that the components of the reference in output space stand for."""
        return self._components(self.reference.sample(0.0, 0).shape[2])

    def _components(self, n: int) -> list[str]:
        """Outputs that the n components of a reference in output space stand for; one stands for all."""
        whole = names(self.plant.outputs)
        followed = self._outputs_followed
        if n == 1:
            return followed[:1]
        return whole if n == len(whole) else followed

    @property
    def moves_joints(self) -> bool:
        """Whether the reference is a motion of the machine, and not one of outputs (or none at all)."""
        return self.reference is not None and self.reference.space != "output"

    def signals(self, t: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """(name, values at t) of every signal wanted."""
        if self.reference.space == "output":
            yield from self._output_signals(t)
            return
        own_space = self.reference.space
        space_of = _spaces(self.plant)
        mine = _task_names(self.plant, own_space)
        values = {own_space: self.sampled(t)}
        for name, order in self.wanted:
            if name not in space_of:
                raise InputError(
                    f"reference signal {target_name(name, order)!r} refers to nothing the plant has",
                    mend=f"choose from {', '.join(space_of)} (with d's for rates)",
                )
            space = own_space if name in mine else space_of[name]
            if space not in values:
                joints = self.joints(t)
                alike = space == "joint" and not self.plant.dependent
                values[space] = joints if alike else pushed(self.plant, space, joints)
            column = _task_names(self.plant, space).index(name)
            yield target_name(name, order), values[space][order][:, column]

    def _output_signals(self, t: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        values = self.sampled(t)
        n = values.shape[2]
        components = self._components(n)
        for name, order in self.wanted:
            column = components.index(name) if n > 1 else 0
            yield target_name(name, order), values[order][:, column]

    def tool(self, t: np.ndarray) -> np.ndarray | None:
        """Where the tool shall be, (N, 3) in the world; None for a plant without a tool or a reference that is no motion."""
        if not self.moves_joints or not self.plant.has_tool:
            return None
        return tool(self.plant, self.joints(t)[0])

    def sampled(self, t: np.ndarray) -> np.ndarray:
        """The reference and its derivatives at t, kept for the next call with the same times."""
        if self._last_sampled is None or not same(self._last_sampled[0], t):
            self._last_sampled = (t, _along(self.reference, t))
        return self._last_sampled[1]

    def joints(self, t: np.ndarray) -> np.ndarray:
        """Joint trajectories and their derivatives at t, kept for the next call with the same times."""
        given = self.sampled(t)
        if self.reference.space == "joint" and not self.plant.dependent:
            return given
        if self._last_joints is None or not same(self._last_joints[0], t):
            found = to_joints(self.plant, self.reference.space, given, self.q0, t)
            self._last_joints = (t, found)
        return self._last_joints[1]


def _spaces(plant: System) -> dict[str, str]:
    """The space of every name that a reference may ask of a plant; joints where several have it."""
    if not isinstance(plant, HasTask):
        return {}
    return {name: space for space in SPACES for name in _task_names(plant, space)}


_paths: deque[tuple] = deque(maxlen=PATHS)


def _along(reference, t: np.ndarray) -> np.ndarray:
    """The reference and its derivatives at t. Many runs follow one path, so the last few are kept, where they can be compared."""
    if not own(type(reference)) or 8 * t.size > SHORT:
        return reference.sample(t, ORDER)
    for known, times, values in tuple(_paths):  # another thread may add to it meanwhile
        if known == reference and same(times, t):
            return values
    values = reference.sample(t, ORDER)
    values.flags.writeable = False
    _paths.append((reference, t.copy() if t.flags.writeable else t, values))
    return values


def same(times: np.ndarray, t: np.ndarray) -> bool:
    """Whether these are the same times."""
    return times is t or np.array_equal(times, t)
