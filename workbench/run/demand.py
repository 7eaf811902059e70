"""What the scenario demands of the loop: reference, disturbances and noise as arrays over time.

A reference signal is named after what it refers to: "q_1_d", "dx_2_d", "dddtcp_x_d" (leading d's count derivatives, the
trailing _d says desired). Whatever space the reference is given in (joint, piston, cartesian), a controller may ask for
signals of any other: the plant's `task(space, q)` is inverted (Newton, exact derivatives) and pushed forward.
References out of reach are refused here, before anything runs. A sampled controller may ask ahead: "q_1_d@5" is the
value five samples later, "F_ext@3" that of a disturbance known beforehand.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from workbench.contract.capabilities import HasTask, Posed, Varies
from workbench.contract.errors import InputError
from workbench.contract.own_text import own
from workbench.contract.system import System, find, names
from workbench.run.demand_checks import check_commands, check_disturbances, check_reach
from workbench.run.reference import Hold
from workbench.run.room import check_inputs
from workbench.run.scenario import Scenario
from workbench.run.spaces import SHORT, pushed, task_values, to_joints, tool
from workbench.run.targets import (
    _task_names,
    ahead,
    check_space,
    padded,
    parse,
    target_name,
    undisturbed,
    width,
)

ORDER = 3  # derivatives carried through changes of space


class Demand:
    """Arrays of a loop's inputs for one scenario; `at(t)` gives (N, n_live) for the live inputs.

    live: input names that vary or differ from their default.
    x0: initial state of the run, which `start` keeps. A reference that begins at "start" begins where the machine stands before
    `scenario.offset` moves it: the offset is the error of the run at t = 0.
    """

    def __init__(self, loop: System, scenario: Scenario, x0: np.ndarray):
        self.loop, self.scenario = loop, scenario
        self.start = x0
        inputs = {s.name: s for s in loop.inputs}
        check_disturbances(scenario, inputs)
        wanted = [s.name for s in loop.inputs if s.kind == "reference"]
        self.previews = {name: ahead(name) for name in wanted if "@" in name}
        pushes = [n for n, s in inputs.items() if s.kind == "disturbance"]
        self.known = [base for base, _ in self.previews.values() if base in pushes]
        self.wanted = [
            parse(base)
            for base in dict.fromkeys(n.split("@")[0] for n in wanted)
            if base not in self.known
        ]
        if self.previews and loop.period is None:
            raise InputError(
                f"{next(iter(self.previews))}: a preview counts samples, and this loop has none",
                mend="sample the controller: Sampled(law, T_s=…)",
            )
        self.live = tuple(
            n
            for n, s in inputs.items()
            if s.kind in ("reference", "noise") or n in scenario.disturbances
        )
        self.kinds = {n: s.kind for n, s in inputs.items()}
        self.plant = loop.plant
        n = self.plant.n
        nominal = undisturbed(self.plant, scenario, x0)
        self.q0 = nominal[:n]
        self.x0 = nominal
        self.reference = self._resolved()
        self._kept = self._sampled = self._given_at = None

    def _resolved(self):
        if not self.wanted:
            return None
        space = self._space_of().get(self.wanted[0][0], "output")
        reference = self.scenario.reference or Hold(space, "start")
        if reference.space == "output":
            return self._of_outputs(reference)
        check_space(self.plant, reference.space)
        start = tuple(float(v) for v in task_values(self.plant, reference.space, self.q0))
        full = len(start)
        short = width(reference)
        if short not in (None, full):
            if reference.space != "cartesian" or not 2 <= short < full:
                raise InputError(
                    f"reference: {short} components in {reference.space} space, the plant has {full} "
                    f"({', '.join(self.plant.task_names(reference.space))})"
                )
            # A planar path: what is redundant is held where it starts.
            reference = padded(reference, start[short:])
        return reference.resolve(start)

    def _of_outputs(self, reference):
        """A reference for measured outputs: one component for each that the controller follows, or for each, or one for all."""
        outs = self.plant.outputs
        short = width(reference)
        followed = self._followed
        for name in followed:
            find(outs, name, "reference of the controller")
        if short not in (None, 1, len(followed), len(outs)):
            raise InputError(
                f"reference: {short} components for {len(outs)} outputs ({', '.join(names(outs))})",
                mend=f"give one for each that is followed ({', '.join(followed)}), or for each of them, or one for "
                "all",
            )
        y = dict(
            zip(names(outs), (float(v) for v in self.plant.out(0.0, [float(v) for v in self.x0])))
        )
        return reference.resolve(tuple(y[name] for name in self._components(short or len(outs))))

    @property
    def _followed(self) -> list[str]:
        """Outputs the controller asks a reference for, in its order."""
        return list(dict.fromkeys(name for name, _ in self.wanted))

    @property
    def components(self) -> list[str]:
        """Outputs that the components of the reference in output space stand for."""
        return self._components(self.reference.sample(0.0, 0).shape[2])

    def _components(self, n: int) -> list[str]:
        """Outputs that the n components of a reference in output space stand for; one stands for all."""
        whole = names(self.plant.outputs)
        followed = self._followed
        return followed[:1] if n == 1 else whole if n == len(whole) else followed

    def _space_of(self) -> dict[str, str]:
        if not isinstance(self.plant, HasTask):
            return {}
        return {
            name: space
            for space in ("cartesian", "piston", "joint")
            for name in _task_names(self.plant, space)
        }

    def at(self, t: np.ndarray, noise: bool = True) -> np.ndarray:
        """Live inputs at times t, (N, n_live).

        noise=False: at times between samples, where noise and previews are not read (both are 0 there).
        """
        t = np.asarray(t, float)
        if noise and self._given_at is not None and np.array_equal(self._given_at[0], t):
            return self._given_at[1]
        found = self._at(t, noise)
        if noise:
            found.flags.writeable = False
            self._given_at = t, found
        return found

    def _at(self, t: np.ndarray, noise: bool) -> np.ndarray:
        grid, stride = self._continued(t) if self.previews and noise else (t, 0)
        columns = dict(self._references(grid)) if self.wanted else {}
        for name in dict.fromkeys((*self.scenario.disturbances, *self.known)):
            value = self.scenario.disturbances.get(name, self.loop.defaults().get(name, 0.0))
            varies = isinstance(value, Varies)
            columns[name] = (
                value.sample(grid, 0)[0, :, 0] if varies else np.full(grid.size, float(value))
            )
        whole = columns
        columns = {name: value[: t.size] for name, value in columns.items()}
        for name, (base, k) in self.previews.items():
            columns[name] = (
                whole[base][k * stride : k * stride + t.size] if noise else np.zeros(t.size)
            )
        draws = [n for n in self.live if self.kinds[n] == "noise"]
        if draws:
            values = np.random.default_rng(self.scenario.seed).standard_normal((t.size, len(draws)))
            columns |= {n: values[:, i] * noise for i, n in enumerate(draws)}
        return (
            np.ascontiguousarray(np.column_stack([columns[n] for n in self.live]))
            if self.live
            else np.zeros((t.size, 0))
        )

    def _continued(self, t) -> tuple[np.ndarray, int]:
        """(times that reach as far as the longest preview, stride): k samples after entry i is entry i + k·stride.

        Where t repeats every sample it is only continued; else every sample ahead is written out.
        """
        T = self.loop.period
        far = max(k for _, k in self.previews.values())
        stride = min(max(int(np.searchsorted(t, t[0] + (1 - 1e-6) * T)), 1), t.size)
        if np.allclose(t[stride:], t[:-stride] + T, rtol=0.0, atol=1e-6 * T):
            return np.concatenate([t, *(t[-stride:] + j * T for j in range(1, far + 1))]), stride
        return np.concatenate([t + j * T for j in range(far + 1)]), t.size

    def _references(self, t):
        own = self.reference.space
        given = self._given(t)
        if own == "output":
            outs = self._components(given.shape[2])
            for name, order in self.wanted:
                yield (
                    target_name(name, order),
                    given[order][:, outs.index(name) if given.shape[2] > 1 else 0],
                )
            return
        space_of = self._space_of()
        mine = _task_names(self.plant, own)
        cache = {own: given}
        for name, order in self.wanted:
            if name not in space_of:
                raise InputError(
                    f"reference signal {target_name(name, order)!r} refers to nothing the plant has",
                    mend=f"choose from {', '.join(space_of)} (with d's for rates)",
                )
            space = own if name in mine else space_of[name]
            if space not in cache:
                if "joint" not in cache:
                    cache["joint"] = self._joints(t, given)
                cache[space] = (
                    cache["joint"]
                    if space == "joint"
                    else pushed(self.plant, space, cache["joint"])
                )
            yield (
                target_name(name, order),
                cache[space][order][:, _task_names(self.plant, space).index(name)],
            )

    def joints(self, t) -> np.ndarray:
        """Desired joint positions, (N, n)."""
        return self._joints(t, self._given(t))[0]

    def desired_tool(self, t) -> np.ndarray | None:
        """Where the tool shall be, (N, 3) in the world; None for a plant without a tool or a reference that is no motion."""
        if self.reference is None or self.reference.space == "output" or not self.plant.has_tool:
            return None
        return tool(self.plant, self._joints(t, self._given(t))[0])

    def _given(self, t) -> np.ndarray:
        """The reference and its derivatives at t, kept for the next call with the same times."""
        if self._sampled is None or not np.array_equal(self._sampled[0], t):
            self._sampled = (t, _along(self.reference, t))
        return self._sampled[1]

    def _joints(self, t, given):
        """Joint trajectories at t, kept for the next call with the same times."""
        if self.reference.space == "joint":
            return given
        if self._kept is None or not np.array_equal(self._kept[0], t):
            self._kept = (t, to_joints(self.plant, self.reference.space, given, self.q0, t))
        return self._kept[1]

    def check(self, t: np.ndarray) -> None:
        """Refuse a reference that leaves the plant's reach, saying when and which piston, and a command beyond its range.

        A run whose inputs would take more memory than there should be is refused before they are worked out.
        """
        check_inputs(len(t), len(self.live))
        check_commands(self.plant, self.scenario, t)
        if (
            self.reference is None
            or self.reference.space == "output"
            or not isinstance(self.plant, Posed)
        ):
            return
        check_reach(self.plant, self._joints(t, self._given(t)), t)


_paths: deque[tuple] = deque(maxlen=3)


def _along(reference, t: np.ndarray) -> np.ndarray:
    """The reference and its derivatives at t. Many runs follow one path, so the last few are kept, where they can be compared."""
    if not own(type(reference)) or 8 * t.size > SHORT:
        return reference.sample(t, ORDER)
    for known, times, values in tuple(_paths):  # another thread may add to it meanwhile
        if known == reference and np.array_equal(times, t):
            return values
    values = reference.sample(t, ORDER)
    values.flags.writeable = False
    _paths.append((reference, t.copy(), values))
    return values
