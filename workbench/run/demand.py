"""What the scenario demands of the loop: reference, disturbances and noise as arrays over time.

A reference signal is named after what it refers to: "q_1_d", "dx_2_d", "dddtcp_x_d" (leading d's count derivatives, the
trailing _d says desired); `followed` turns the reference into whichever space the controller asks for. References out of
reach are refused here, before anything runs. A sampled controller may ask ahead: "q_1_d@5" is the value five samples later,
"F_ext@3" that of a disturbance known beforehand.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from workbench.contract.capabilities import Posed, Varies
from workbench.contract.errors import InputError
from workbench.contract.system import System
from workbench.run.demand_checks import check_commands, check_disturbances, check_reach
from workbench.run.followed import Followed, same
from workbench.run.room import check_inputs
from workbench.run.scenario import Scenario
from workbench.run.spaces import PATHS, SHORT
from workbench.run.targets import ahead, parse, undisturbed


class Demand:
    """Arrays of a loop's inputs for one scenario; `at(t)` gives (N, n_live) for the live inputs.

    live: input names that vary or differ from their default.
    start: initial state of the run. A reference that begins at "start" begins where the machine stands before
    `scenario.offset` moves it: the offset is the error of the run at t = 0.
    """

    def __init__(self, loop: System, scenario: Scenario, x0: np.ndarray):
        self.loop, self.scenario = loop, scenario
        self.start = x0
        inputs = {s.name: s for s in loop.inputs}
        check_disturbances(scenario, inputs)
        self.kinds = {name: s.kind for name, s in inputs.items()}
        asked = [name for name, kind in self.kinds.items() if kind == "reference"]
        pushes = [name for name, kind in self.kinds.items() if kind == "disturbance"]
        self.previews = {name: ahead(name) for name in asked if "@" in name}
        if self.previews and loop.period is None:
            raise InputError(
                f"{next(iter(self.previews))}: a preview counts samples, and this loop has none",
                mend="sample the controller: Sampled(law, T_s=…)",
            )
        self.known = [base for base, _ in self.previews.values() if base in pushes]
        bases = dict.fromkeys(name.split("@")[0] for name in asked)
        self.wanted = [parse(base) for base in bases if base not in self.known]
        self.live = live_inputs(loop, scenario)
        self.plant = loop.plant
        nominal = undisturbed(self.plant, scenario, x0)
        self.followed = Followed(self.plant, scenario.reference, self.wanted, nominal)
        self._given_at = None

    @property
    def reference(self):
        """The reference as it is followed, from where the machine stands; None where the controller asks for none."""
        return self.followed.reference

    @property
    def components(self) -> list[str]:
        """Outputs that the components of the reference in output space stand for."""
        return self.followed.components

    def at(self, t: np.ndarray, noise: bool = True) -> np.ndarray:
        """Live inputs at times t, (N, n_live), read only.

        noise=False: at times between samples, where noise and previews are not read (both are 0 there).
        """
        t = np.asarray(t, float)
        if noise and self._given_at is not None and same(self._given_at[0], t):
            return self._given_at[1]
        found = self._at(t, noise)
        if noise:
            self._given_at = t, found
        return found

    def _at(self, t: np.ndarray, noise: bool) -> np.ndarray:
        if not self.live:
            return np.zeros((t.size, 0))
        columns = self._with_previews(t) if noise else self._without_previews(t)
        draws = [name for name in self.live if self.kinds[name] == "noise"]
        if draws:
            values = np.random.default_rng(self.scenario.seed).standard_normal((t.size, len(draws)))
            columns |= {name: values[:, i] * noise for i, name in enumerate(draws)}
        return _stacked([columns[name] for name in self.live])

    def _with_previews(self, t: np.ndarray) -> dict[str, np.ndarray]:
        """References, disturbances and what of them is asked ahead."""
        if not self.previews:
            return self._columns(t)
        grid, stride = self._continued(t)
        whole = self._columns(grid)
        columns = {name: values[: t.size] for name, values in whole.items()}
        for name, (base, k) in self.previews.items():
            columns[name] = whole[base][k * stride : k * stride + t.size]
        return columns

    def _without_previews(self, t: np.ndarray) -> dict[str, np.ndarray]:
        """References and disturbances, and 0 for what is asked ahead."""
        return self._columns(t) | {name: np.zeros(t.size) for name in self.previews}

    def _columns(self, t: np.ndarray) -> dict[str, np.ndarray]:
        """Reference signals and disturbances at t."""
        columns = dict(self.followed.signals(t)) if self.wanted else {}
        for name in dict.fromkeys((*self.scenario.disturbances, *self.known)):
            value = self.scenario.disturbances.get(name, self.loop.defaults().get(name, 0.0))
            if isinstance(value, Varies):
                columns[name] = value.sample(t, 0)[0, :, 0]
            else:
                columns[name] = np.full(t.size, float(value))
        return columns

    def _continued(self, t: np.ndarray) -> tuple[np.ndarray, int]:
        """(times that reach as far as the longest preview, stride): k samples after entry i is entry i + k·stride.

        Where t repeats every sample it is only continued; else every sample ahead is written out.
        """
        T = self.loop.period
        far = max(k for _, k in self.previews.values())
        stride = min(max(int(np.searchsorted(t, t[0] + (1 - 1e-6) * T)), 1), t.size)
        if np.allclose(t[stride:], t[:-stride] + T, rtol=0.0, atol=1e-6 * T):
            return np.concatenate([t, *(t[-stride:] + j * T for j in range(1, far + 1))]), stride
        return np.concatenate([t + j * T for j in range(far + 1)]), t.size

    def joints(self, t: np.ndarray) -> np.ndarray:
        """Desired joint positions, (N, n)."""
        return self.followed.joints(t)[0]

    def desired_tool(self, t: np.ndarray) -> np.ndarray | None:
        """Where the tool shall be, (N, 3) in the world; None for a plant without a tool or a reference that is no motion."""
        return self.followed.tool(t)

    def check(self, t: np.ndarray) -> None:
        """Refuse a reference that leaves the plant's reach, saying when and which piston, and a command beyond its range.

        A run whose inputs would take more memory than there should be is refused before they are worked out.
        """
        check_inputs(len(t), len(self.live))
        check_commands(self.plant, self.scenario, t)
        if self.followed.moves_joints and isinstance(self.plant, Posed):
            check_reach(self.plant, self.followed.joints(t), t)


def live_inputs(loop: System, scenario: Scenario) -> tuple[str, ...]:
    """Names of the inputs that vary in this scenario or differ from their default."""
    return tuple(
        s.name
        for s in loop.inputs
        if s.kind in ("reference", "noise") or s.name in scenario.disturbances
    )


_stacks: deque[tuple] = deque(maxlen=PATHS)


def _stacked(columns: list[np.ndarray]) -> np.ndarray:
    """Columns side by side, read only. Many runs follow one path, so the last few tables of columns that stay are kept."""
    stays = not any(column.flags.writeable for column in columns)
    if not stays or 8 * sum(column.size for column in columns) > SHORT:
        return _table(columns)
    places = [_place(column) for column in columns]
    for known, _, table in tuple(_stacks):  # another thread may add to it meanwhile
        if known == places:
            return table
    table = _table(columns)
    _stacks.append((places, columns, table))  # what is kept is at its place for as long
    return table


def _place(column: np.ndarray) -> tuple:
    """Where a column lies in memory."""
    return column.__array_interface__["data"][0], column.strides, column.shape


def _table(columns: list[np.ndarray]) -> np.ndarray:
    table = np.ascontiguousarray(np.column_stack(columns))
    table.flags.writeable = False
    return table
