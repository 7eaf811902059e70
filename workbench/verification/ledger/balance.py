"""The dissipation ledger: what every component of a loop stores, dissipates, exchanges and is perturbed by.

    v̇_k = −D_k + Σ (power flows through its cuts) + Σ (named perturbations)          for every entry k
    Σ over both sides of a cut = 0                                                   for every inner cut
    v = Σ v_k  is the accompanying function, and the sum of the ledger its balance

v̇_k is never taken from the ledger: it is the exact directional derivative of v_k along the loop's right-hand side, so the
balance is a check, entry by entry. A law states its entries (`law.certificate(plant).entries(…)`); this file adds them up.
Source: [Petrovic22] Definitions 3 and 4, (94)–(99), (C.1)–(C.12).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np

from workbench.contract.capabilities import HasLedger
from workbench.contract.once import traced
from workbench.contract.parameters import bind, graph_key, leaves
from workbench.contract.system import System, innermost
from workbench.numerics.calculus import hoist
from workbench.numerics.expressions import column, quick, symbols
from workbench.numerics.kept_graphs import Graphs, kept
from workbench.numerics.mapped import Mapped
from workbench.run.demand import Demand, live_inputs
from workbench.run.log import Log
from workbench.run.scenario import Scenario
from workbench.run.start import start_state
from workbench.run.targets import parse, target_name
from workbench.verification.ledger.ends import both_ends


@dataclass(frozen=True, eq=False)
class Entry:
    """One component at one state; all values are scalars.

    storage      v_k ≥ 0
    dissipation  D_k ≥ 0
    flows        cut → virtual power entering this component there; an inner cut stands in two entries
    perturbations name → d
    scale        sum of the magnitudes of all terms before any subtraction: what rounding is measured against
    """

    subsystem: str
    name: str
    storage: object
    dissipation: object
    flows: Mapping[str, object] = field(default_factory=dict)
    perturbations: Mapping[str, object] = field(default_factory=dict)
    scale: object = 0.0


@dataclass(frozen=True, eq=False)
class Balance:
    """A ledger evaluated along a run: arrays over (N,) instants; two a sample, just after it and just before the next."""

    t: np.ndarray
    entries: tuple[tuple[str, str], ...]  # (subsystem, component)
    v: np.ndarray  # (N, K)
    vdot: np.ndarray  # (N, K), exact
    dissipation: np.ndarray  # (N, K)
    scale: np.ndarray  # (N, K)
    flows: dict[tuple[str, str, str], np.ndarray]  # (subsystem, component, cut) → (N,)
    perturbations: dict[tuple[str, str, str], np.ndarray]  # (subsystem, component, name) → (N,)
    # Named by the certificate: margins of hypotheses and the like.
    quantities: dict[str, np.ndarray]

    @property
    def total(self) -> np.ndarray:
        """v (N,)."""
        return self.v.sum(axis=1)

    @property
    def total_rate(self) -> np.ndarray:
        """v̇ (N,)."""
        return self.vdot.sum(axis=1)

    def finite(self) -> Balance:
        """Only the instants at which everything is finite (of a run that blows up, what came before)."""
        rows = np.isfinite(np.hstack([self.v, self.vdot, self.dissipation])).all(axis=1)
        for group in (self.flows, self.perturbations, self.quantities):
            for values in group.values():
                rows &= np.isfinite(values)
        return self if rows.all() else self.part(rows)

    def part(self, rows: np.ndarray) -> Balance:
        """The balance at the instants that a mask (N,) picks."""
        pick = lambda group: {k: v[rows] for k, v in group.items()}
        return Balance(
            t=self.t[rows],
            entries=self.entries,
            v=self.v[rows],
            vdot=self.vdot[rows],
            dissipation=self.dissipation[rows],
            scale=self.scale[rows],
            flows=pick(self.flows),
            perturbations=pick(self.perturbations),
            quantities=pick(self.quantities),
        )

    @cached_property
    def weight(self) -> np.ndarray:
        """`scale`, no smaller than a hundredth of its median (N, K): where ΔV passes zero, what is rounded is V."""
        return np.maximum(
            self.scale, np.maximum(1e-2 * np.median(self.scale, axis=0), np.finfo(float).tiny)
        )

    def residual(self) -> np.ndarray:
        """v̇_k minus the ledger's row, relative to its weight (N, K); rounding only, or a bug."""
        rhs = -self.dissipation.copy()
        for group in (self.flows, self.perturbations):
            for (s, c, _), values in group.items():
                rhs[:, self.entries.index((s, c))] += values
        return (self.vdot - rhs) / self.weight

    def cuts(self) -> dict[str, np.ndarray]:
        """Sum of both sides at every cut (N,); zero at inner cuts, what enters from outside at outer ones."""
        found: dict[str, np.ndarray] = {}
        for (_, _, cut), values in self.flows.items():
            found[cut] = found.get(cut, 0.0) + values
        return found

    def cut_scale(self) -> dict[str, np.ndarray]:
        """What rounding at every cut is measured against (N,): the terms, before subtraction, of the entries that meet there."""
        weight = self.weight
        return {
            cut: sum(weight[:, self.entries.index(side)] for side in sides)
            for cut, sides in self.sides().items()
        }

    def sides(self) -> dict[str, list[tuple[str, str]]]:
        """Cut → components that meet there."""
        found: dict[str, list] = {}
        for s, c, cut in self.flows:
            found.setdefault(cut, []).append((s, c))
        return found

    def perturbation(self) -> dict[str, np.ndarray]:
        """d by cause, summed over components; power entering through outer cuts is a cause too."""
        found: dict[str, np.ndarray] = {}
        for (_, _, name), values in self.perturbations.items():
            found[name] = found.get(name, 0.0) + values
        for cut, sides in self.sides().items():
            if len(sides) == 1:
                found[cut] = self.cuts()[cut]
        return found

    def drive(self, rate: float) -> np.ndarray:
        """d (N,) in v̇ ≤ −c v + d: all perturbations, and c times the storages that nothing damps at that rate (bristles)."""
        undamped = sum(
            (q for name, q in self.quantities.items() if name.startswith("undamped ")),
            np.zeros(len(self.t)),
        )
        return sum(self.perturbation().values()) + rate * undamped


def entries_of(loop, t, x, w, rates) -> tuple[list[Entry], dict]:
    """The entries the loop's own law states, and the quantities its hypotheses need."""
    return innermost(loop.controller).certificate(loop.plant).entries(loop, t, x, w, rates)


def has_ledger(loop: System) -> bool:
    """Whether the loop's law states a ledger."""
    return isinstance(innermost(loop.controller), HasLedger)


class LedgerFunction:
    """The ledger of one loop as a compiled function of (t, x, w)."""

    def __init__(self, loop: System, live: tuple[str, ...]):
        def make() -> Graphs:
            with traced():
                return _ledger_graphs(loop, live)

        found = kept("ledger", loop, (live,), make)
        words = found.words
        self.keys = [tuple(key) for key in words["keys"]]
        self.flow_keys = [tuple(key) for key in words["flow_keys"]]
        self.d_keys = [tuple(key) for key in words["d_keys"]]
        self.names = list(words["names"])
        self.sizes = list(words["sizes"])
        self.paths = list(words["paths"])
        self.prelude = found.functions["prelude"]
        self._whole = found.functions["whole"]
        self.alone = found.functions["alone"]

    @cached_property
    def f(self) -> Mapped:
        return Mapped(self._whole)

    @cached_property
    def v(self) -> Mapped:
        return Mapped(self.alone)

    def constants(self, loop: System) -> np.ndarray:
        """What depends on the loop's parameters alone."""
        numbers = {leaf.path: leaf.value for leaf in leaves(loop)}
        return np.array(self.prelude([numbers[path] for path in self.paths])).ravel()

    def storage(self, loop: System, t, x, w) -> np.ndarray:
        """v alone (N,), many times faster than the whole ledger."""
        return self.v(np.asarray(t, float)[:, None], x, w, self.constants(loop))[:, 0]

    def __call__(self, loop: System, t, x, w) -> Balance:
        t = np.asarray(t, float)
        found = self.f(t[:, None], x, w, self.constants(loop))
        cut = np.split(found, np.cumsum(self.sizes)[:-1], axis=1)
        v, vdot, D, scale, flows, d, q = cut
        return Balance(
            t=t,
            entries=tuple(self.keys),
            v=v,
            vdot=vdot,
            dissipation=D,
            scale=scale,
            flows=dict(zip(self.flow_keys, flows.T)),
            perturbations=dict(zip(self.d_keys, d.T)),
            quantities=dict(zip(self.names, q.T)),
        )


def _ledger_graphs(loop: System, live: tuple[str, ...]) -> Graphs:
    """The ledger as expressions of (t, x, w): all of it, and the storage alone; which rows and columns it has."""
    free = [leaf for leaf in leaves(loop) if not leaf.constant]
    p, entries = symbols("p", len(free))
    values = {leaf.path: e for leaf, e in zip(free, entries)}
    bound = bind(loop, values)
    t = quick(ca.SX.sym("t"))
    x, xs = symbols("x", len(loop.states))
    w, ws = symbols("w", len(live))
    at = dict(zip(live, ws))
    defaults = bound.defaults()
    u = [at.get(s.name, defaults.get(s.name, 0.0)) for s in loop.inputs]
    rates = bound.rhs(t, xs, u)
    rows, quantities = entries_of(bound, t, xs, u, rates)
    stored = column([e.storage for e in rows])
    wdot = column([at.get(rate_of(name), 0.0) if rate_of(name) else 0.0 for name in live])
    vdot = ca.jtimes(stored, x, column(rates)) + (ca.jtimes(stored, w, wdot) if live else 0)
    parts = [
        stored,
        vdot,
        column([e.dissipation for e in rows]),
        column([e.scale for e in rows]),
        column([f for e in rows for f in e.flows.values()]),
        column([d for e in rows for d in e.perturbations.values()]),
        column(list(quantities.values())),
    ]
    (whole, alone), c, prelude = hoist([ca.vertcat(*parts), ca.sum1(stored)], p)
    functions = {
        "prelude": ca.Function("prelude", [p], [prelude]),
        "whole": ca.Function("ledger", [t, x, w, c], [whole]),
        "alone": ca.Function("storage", [t, x, w, c], [alone]),
    }
    words = {
        "keys": [(e.subsystem, e.name) for e in rows],
        "flow_keys": [(e.subsystem, e.name, cut) for e in rows for cut in e.flows],
        "d_keys": [(e.subsystem, e.name, name) for e in rows for name in e.perturbations],
        "names": list(quantities),
        "sizes": [e.numel() for e in parts],
        "paths": [leaf.path for leaf in free],
    }
    return Graphs(functions, words)


def rate_of(name: str) -> str | None:
    """Name of the input that is the time derivative of input `name`, None when nobody knows it."""
    if name.startswith(("V_b", "ω_b")):
        return name.replace("V_b", "A_b").replace("ω_b", "α_b")
    if name.endswith("_d"):
        signal, order = parse(name)
        return target_name(signal, order + 1)
    return None


_functions: dict = {}


def ledger_function(loop: System, live: tuple[str, ...]) -> LedgerFunction:
    """The compiled ledger of a loop; loops of one graph share it."""
    key = (graph_key(loop), live)
    if key not in _functions:
        _functions[key] = LedgerFunction(loop, live)
    return _functions[key]


def compiled_ledger(loop: System, scenario: Scenario) -> tuple[Mapped, Mapped]:
    """(storage, whole ledger) of a loop as compiled functions; asked for beside a run, they keep no claim waiting after it."""
    function = ledger_function(loop, live_inputs(loop, scenario))
    return function.v, function.f


def balance(loop: System, scenario, log: Log) -> Balance:
    """The ledger along a run."""
    demand = Demand(loop, scenario, start_state(loop, scenario))
    return ledger_function(loop, demand.live)(loop, *both_ends(loop, log, demand))
