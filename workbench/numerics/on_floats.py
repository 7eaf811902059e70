"""Systems whose text is Python on floats: it has no graph and no C, so every function is called as it stands.

`Text` has the functions of `calculus.Traced` over (t, x, w, c) with c empty, `FloatLoop` the samples of `native.Loop`: RK4 of
the same steps, jumps, rows. What asks for a derivative is refused, for there is none (`System.no_derivative`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import System, names
from workbench.numerics import stepping
from workbench.numerics.samples import Samples

# Of a step, where its stages are: before a jump at its end.
OFFSETS = (
    *stepping.OFFSETS[:-1],
    stepping.END,
)


class Called:
    """As `direct.Direct`: a function of columns on numbers that are given one by one."""

    def __init__(self, f: _Function, sizes: Sequence[int]) -> None:
        self.f = f
        self.given = [np.zeros(size) for size in sizes]

    def give(self, i: int, values: Any) -> None:
        """Argument i from now on."""
        if self.given[i].size:
            self.given[i][:] = values

    def now(self) -> np.ndarray:
        """The result at the arguments given."""
        t, x, w = self.given[:3]
        return self.f(float(t[0]), x, w)


class _Function:
    """One function of a system, over columns of states as a graph is."""

    def __init__(self, f: Callable[[float, list, list], Sequence], rows: int) -> None:
        self.f, self.rows = f, rows

    def columns(self, states: int, inputs: int) -> Called:
        """This function of columns of these lengths, for numbers given one by one."""
        return Called(self, (1, states, inputs, 0))

    def size1_out(self, _: int) -> int:
        return self.rows

    def size1_in(self, i: int) -> int:
        """Only the length of the parameters is ever asked for: there are none."""
        return 0

    def __call__(self, t: Scalar, x: Any, w: Any, c: Any = ()) -> np.ndarray:
        columns = np.asarray(x, float)
        u = np.asarray(w, float).ravel().tolist()
        if columns.ndim < 2:
            return np.array(self.f(float(t), columns.tolist(), u), float)
        found = [self.f(float(t), column, u) for column in columns.T.tolist()]
        return np.array(found, float).reshape(len(found), self.rows).T


class Text:
    """The functions of a system on floats; inputs that are not in `live` stay at their default."""

    flow_is_driven = True
    blocks: tuple[int, ...] = ()
    stiff_at: tuple[int, ...] = ()

    def __init__(self, system: System, live: Sequence[str]) -> None:
        self.live = tuple(live)
        self.n_states = self.n_moving = n = len(system.states)
        self.n_powers = k = len(system.power_names)
        values = {**dict.fromkeys(names(system.inputs), 0.0), **system.defaults()}
        places = [names(system.inputs).index(name) for name in self.live]
        fixed = [float(values[name]) for name in names(system.inputs)]

        def whole(w: Vector) -> list:
            u = list(fixed)
            for i, value in zip(places, w):
                u[i] = value
            return u

        def made(f: Callable, rows: int) -> _Function:
            return _Function(lambda t, x, w: f(t, x, whole(w)), rows)

        powers = system.powers if k else lambda t, x, u: []
        self.flow = made(lambda t, x, u: [*system.rhs(t, x, u), *powers(t, x, u)], n + k)
        self.motion = self.flow
        self.jump = made(system.update, n)
        self.release = made(system.release, n)
        self.start = made(system.start, n)
        self.log = made(
            lambda t, x, u: [*system.monitor(t, x, u), system.stored(t, x, u)],
            len(system.monitors) + 1,
        )
        self.out = made(lambda t, x, u: system.out(t, x), len(system.outputs))
        self.project = made(lambda t, x, u: system.project(t, x), n)

    def constants(self, system: System) -> np.ndarray:
        """None: numbers are where the text has them."""
        return np.zeros(0)


class FloatLoop:
    """As `native.Loop`, on floats. Steps are RK4; a state that stops being finite ends the run."""

    lib = None
    offsets = OFFSETS

    def __init__(self, text: Text) -> None:
        self.traced = text
        self.n_x, self.n_q, self.n_w = text.n_states, text.n_powers, len(text.live)
        self.row = text.n_states + text.n_powers + text.log.size1_out(0)

    def begin(self, t0: Scalar, x: Vector, w: Vector, c: Any) -> np.ndarray:
        """Initial state with the controller's memory made consistent with the first measurement."""
        return self.traced.start(t0, x, w)

    def run(self, *given: Any) -> int:
        """Run `Samples(*given)`; how many samples were done before the state left the numbers, as driver.c does."""
        asked = Samples(*given)
        W = np.atleast_2d(asked.W)
        inputs = asked.stages(len(OFFSETS))
        rows = asked.table(self.row)
        every = asked.every
        state = asked.state
        kept = 0
        x = state[: self.n_x]
        for k in range(asked.n):
            number = asked.first + k
            begin = number * asked.T
            w = W[k]
            if asked.jumping:
                x[:] = self.traced.jump(begin, x, w)
            if not np.isfinite(x).all():
                return k
            if rows is not None and every and number % every == 0:
                rows[kept] = self._row(begin, state, w)
                kept += 1
            for s in range(asked.n1 + asked.n2):
                h, after = asked.step(s)
                at = begin + after
                if asked.n1 and s == asked.n1:
                    x[:] = self.traced.release(at, x, w)
                stages = (w, w, w) if inputs is None else inputs[k, s]
                if rows is not None and not every:
                    rows[kept] = self._row(at, state, stages[0] if s else w)
                    kept += 1
                self._step(at, h, state, stages)
                x[:] = self.traced.project(at + h, x, w)
        return asked.n

    def _row(self, t: float, state: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.concatenate([state, self.traced.log(t, state[: self.n_x], w)])

    def _step(self, t: float, h: float, state: np.ndarray, stages: Sequence) -> None:
        """RK4 over h; power integrals along with the states."""
        f = self.traced.flow
        x = state[: self.n_x]
        a = f(t, x, stages[0])
        b = f(t + h / 2, x + h / 2 * a[: self.n_x], stages[1])
        c = f(t + h / 2, x + h / 2 * b[: self.n_x], stages[1])
        d = f(t + h, x + h * c[: self.n_x], stages[2])
        state += h / 6 * (a + 2 * b + 2 * c + d)


def refuse_implicit(why: str) -> None:
    """InputError for a flow on floats that is too stiff for explicit steps."""
    raise InputError(
        f"simulate: the plant has {why}, too fast for explicit steps, and implicit ones need its exact Jacobian, which Python "
        "on floats does not have",
        mend="write its equations as a System (a frozen dataclass with rhs), or leave the fast mode out of the model",
    )
