"""What a search minimises, and least squares from one start within bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

from workbench.identification.model import Channel, LinearModel, Shape, channel_of
from workbench.identification.records import Record
from workbench.identification.response import sensitivities
from workbench.identification.start import free, mirrored

EVALUATIONS = 200


SHORTEST = 0.01  # share of the sample time: lags below it are not searched


UNDAMPED = 1e-6  # damping ratio of a pole pair that was stopped on the imaginary axis


@dataclass(frozen=True, eq=False)
class Task:
    """Records, structure and weights: the function to be minimised."""

    records: tuple[Record, ...]
    shapes: tuple[Shape, ...]
    output: str
    weights: tuple[float, ...]
    trend: bool = False

    @property
    def shortest(self) -> float:
        """Shortest sample time, s."""
        return min(r.T for r in self.records)

    @property
    def longest_step(self) -> float:
        """Delay by which a profile may move at once, s: a fiftieth of the shortest record."""
        return min(r.t[-1] - r.t[0] for r in self.records) / 50

    def channels(self, θ) -> list[Channel]:
        """Channels of the parameter vector."""
        ends = np.cumsum([s.size for s in self.shapes])
        return [channel_of(s, θ[e - s.size : e]) for s, e in zip(self.shapes, ends)]

    def parameters(self, channels) -> np.ndarray:
        """Parameter vector of the channels."""
        return np.concatenate([c.parameters(s) for c, s in zip(channels, self.shapes)])

    def free(self, x: np.ndarray, r: Record) -> np.ndarray:
        """Columns over the scored samples without mean (and trend)."""
        return free(x, r, self.trend)

    def residuals(self, channels) -> list[np.ndarray]:
        """Unweighted residuals, one array a record."""
        model = LinearModel(self.output, tuple(channels))
        return [self.free(r.output(self.output) - model.response(r), r) for r in self.records]

    def jacobian(self, channels) -> np.ndarray:
        """(N, p) weighted ∂ŷ/∂θ, records one below the other."""
        blocks = []
        for r, w in zip(self.records, self.weights):
            columns = []
            for c, s in zip(channels, self.shapes):
                if c.input in r.input_names and (np.ptp(r.input(c.input)) or r.input(c.input)[0]):
                    columns.append(
                        sensitivities(
                            c.b,
                            c.a,
                            c.integrators,
                            c.delay,
                            r.input(c.input),
                            r.T,
                            r.hold_of(c.input),
                            s.estimates_delay,
                        )[1]
                    )
                else:
                    columns.append(np.zeros((len(r), s.size)))
            blocks.append(w * self.free(np.hstack(columns), r))
        return np.concatenate(blocks)

    def weighted(self, channels) -> np.ndarray:
        """(N,) weighted residuals."""
        return np.concatenate([w * e for w, e in zip(self.weights, self.residuals(channels))])

    def sizes(self, channels) -> np.ndarray:
        """(p,) natural size of each parameter, for scaling."""
        found = []
        for c, s in zip(channels, self.shapes):
            unit = max(
                (abs(v) ** (1 / j) for j, v in enumerate(c.a, 1) if v), default=self.records[0].T
            )
            gain = max(abs(v) / unit**j for j, v in enumerate(c.b)) or 1.0
            natural = [
                *(gain * unit**j for j in range(len(c.b))),
                *(unit**j for j in range(1, s.lags + 1)),
            ]
            natural += [max(unit, self.records[0].T)] if s.estimates_delay else []
            found.append(np.maximum(np.abs(c.parameters(s)), 1e-4 * np.array(natural)))
        return np.concatenate(found)


def optimised(task: Task, channels, evaluations: int = EVALUATIONS):
    """Channels at the minimum next to these, and SciPy's result (status ≤ 0, and the best so far, where it broke off)."""
    with np.errstate(all="ignore"):
        return _optimised(
            task,
            [mirrored(c) if s.stable else c for c, s in zip(channels, task.shapes)],
            evaluations,
        )


def _optimised(task: Task, channels, evaluations: int):
    goal = _Goal(task, task.sizes(channels))
    low = np.concatenate([_lowest(s, SHORTEST * task.shortest) for s in task.shapes]) / goal.sizes
    begin = np.maximum(
        task.parameters(channels) / goal.sizes, np.where(np.isfinite(low), 2 * low, low)
    )
    try:
        found = least_squares(
            goal.residual,
            begin,
            goal.jacobian,
            method="trf",
            bounds=(low, np.inf),
            x_scale="jac",
            ftol=1e-13,
            xtol=1e-13,
            gtol=1e-15,
            max_nfev=evaluations,
        )
    except (
        ValueError,
        np.linalg.LinAlgError,
    ):  # steps from a point beside what cannot be simulated lose their numbers
        found = OptimizeResult(status=-1, message="the steps lost their numbers")
    found.cost, best = goal.best
    return channels if best is None else task.channels(best * goal.sizes), found


class _Goal:
    """Residual and gradient for SciPy, over parameters in units of their sizes; the best it has seen."""

    def __init__(self, task: Task, sizes):
        self.task, self.sizes = task, sizes
        self.scale = np.sqrt(
            sum(
                w**2 * float(np.sum(task.free(r.output(task.output), r) ** 2))
                for r, w in zip(task.records, task.weights)
            )
        )
        self.refused = np.full(sum(len(r) - r.start for r in task.records), np.inf)
        self.kept: dict[
            bytes, np.ndarray
        ] = {}  # the last gradient: asked for where the residual was
        self.best: tuple = (np.inf, None)

    def residual(self, z):
        task = self.task
        if not np.isfinite(z).all():
            return self.refused
        here = task.channels(z * self.sizes)
        if any(s.stable and not c.stable for c, s in zip(here, task.shapes)):
            return self.refused
        try:
            e = -task.weighted(here) / self.scale
            J = self._gradient(here)
        except (
            ValueError,
            np.linalg.LinAlgError,
        ):  # coefficients beyond floating point: the step is refused
            return self.refused
        if not (np.isfinite(J).all() and np.isfinite(e).all()):
            return self.refused
        self.kept = {z.tobytes(): J}
        self.best = min(self.best, (0.5 * float(e @ e), z.copy()), key=lambda pair: pair[0])
        return e

    def jacobian(self, z):
        found = self.kept.get(z.tobytes())
        return self._gradient(self.task.channels(z * self.sizes)) if found is None else found

    def _gradient(self, channels):
        return self.task.jacobian(channels) * (self.sizes / self.scale)


def edge(task: Task, channels) -> tuple[dict[str, str], dict[str, str]]:
    """Input → in words, where the search may not go on: poles on the imaginary axis; lags too short to be searched."""
    undamped = {}
    vanished = {}
    for c, s in zip(channels, task.shapes):
        if not (s.stable and s.lags):
            continue
        loose = [p for p in c.poles if p.imag >= 0 and abs(p.real) <= UNDAMPED * abs(p)]
        # Of all a_j but the last.
        low = _lowest(s, SHORTEST * task.shortest)[s.zeros + 1 : s.zeros + s.lags]
        if loose:
            undamped[s.input] = f"its poles at ±{loose[0].imag:.4g} rad/s have no damping left"
        elif (np.array(c.a[:-1]) <= 1.01 * low).any():
            undamped[s.input] = "a coefficient of its denominator is the least that is searched"
        if abs(c.poles[-1]) * SHORTEST * task.shortest > 1:
            vanished[s.input] = f"a lag went to zero, with its pole at {c.poles[-1].real:.2g} 1/s"
    return undamped, vanished


def _lowest(shape: Shape, shortest: float) -> np.ndarray:
    """Lower bounds: the a_j of a stable polynomial are positive, and too short a lag has no effect left."""
    found = np.full(shape.size, -np.inf)
    if shape.stable:
        found[shape.zeros + 1 : shape.zeros + 1 + shape.lags] = shortest ** np.arange(
            1, shape.lags + 1
        )
    return found
