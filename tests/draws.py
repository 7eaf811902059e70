"""Random machines with every component a cylinder can have, random states and inputs, and a text run both ways."""

from dataclasses import replace

import casadi as ca
import numpy as np
from oracles.random_machines import random_base, random_machine, random_state, random_tip

from plants.components.chamber import Oil
from plants.components.friction import (
    BengisuAkay,
    BrownMcPhee,
    CoulombViscous,
    Frictionless,
    LuGre,
    ModifiedLuGre,
    Stribeck,
)
from plants.components.spatial import unturn
from plants.components.valve import Valve
from workbench.contract.parameters import bind, leaves
from workbench.numerics.calculus import check_constants
from workbench.numerics.expressions import column, symbols

FRICTIONS = (
    CoulombViscous(),
    Stribeck(),
    LuGre(),
    Frictionless(),
    BengisuAkay(),
    ModifiedLuGre(),
    BrownMcPhee(),
)
# Of states and inputs of other plants, by unit.
SIZES = {
    "V/s": 200.0,
    "m": 2e-4,
    "m/s": 0.05,
    "rad": 0.8,
    "rad/s": 0.3,
    "Pa": 1e5,
    "N": 300.0,
    "V": 4.0,
    "1": 0.1,
}
LAGS = ("second", "ideal", "first")


def varied_machine(seed, layout=(False, True)):
    """A random machine whose cylinders differ in valve, overlap, friction, leakage and dead volume; oil with air."""
    rng = np.random.default_rng(seed)
    machine = random_machine(rng, len(layout), layout)
    k = [seed]
    between = lambda low, high: float(rng.uniform(low, high))

    def varied(segment):
        if segment is None:
            return None
        k[0] += 1
        c = rng.uniform(2e-8, 6e-8, 4)
        valve = Valve(
            *map(float, c),
            u_max=9.0,
            dead_band=0.3 * (k[0] % 2),
            lag=LAGS[k[0] % 3],
            frequency=41.0,
            damping=0.63,
            slew=700.0,
        )
        return replace(
            segment,
            cylinder=replace(
                segment.cylinder,
                valve=valve,
                friction=FRICTIONS[k[0] % len(FRICTIONS)],
                c_i=between(1e-13, 1e-12),
                c_e=between(1e-14, 1e-13),
                V_a0=between(1e-4, 9e-4),
                V_b0=between(1e-4, 9e-4),
            ),
        )

    structures = tuple(
        replace(s, revolute=varied(s.revolute), prismatic=varied(s.prismatic))
        for s in machine.structures
    )
    return replace(machine, structures=structures, oil=Oil(β=1.1e9, air=0.003))


def plant_state(rng, machine):
    """A state of a manipulator: moving, pressures between return and supply, spools and bristles deflected."""
    if not machine.structures:
        return [
            float(rng.normal() * SIZES[s.unit] + (6e5 if s.unit == "Pa" else 0.0))
            for s in machine.states
        ]
    q, qd, _ = random_state(rng, machine)
    p = rng.uniform(machine.p_r + 5e5, machine.p_s - 5e5, 2 * machine.n)
    sizes = {"u_s": 3.0, "du_": 200.0, "z": 1e-4, "h": 0.1}
    rest = [
        rng.normal() * next(v for k, v in sizes.items() if s.name.startswith(k))
        for s in machine.states[4 * machine.n :]
    ]
    return [float(v) for v in (*q, *qd, *p, *rest)]


def plant_inputs(rng, machine, moving=True):
    """Inputs of a manipulator: voltages, weight in any direction, a base moving in all six degrees, a tip wrench."""
    if not machine.structures:
        return [float(rng.normal() * SIZES[s.unit]) for s in machine.inputs]
    R, V, A = random_base(rng)
    if not moving:
        V = A = ((0.0,) * 3, (0.0,) * 3)
    g = unturn(R, (0.0, machine.g, 0.0))
    tip = random_tip(rng)
    groups = (rng.uniform(-8, 8, machine.n), g, *V, *A, *tip)
    return [float(v) for group in groups for v in group]


def on_floats(obj, call, *vectors):
    """call(obj, *vectors) as an array."""
    return np.array([float(v) for v in call(obj, *([float(e) for e in v] for v in vectors))])


def on_symbols(obj, call, *vectors):
    """The same text on expressions, all parameters of obj symbols too, evaluated."""
    free = [leaf for leaf in leaves(obj) if not leaf.constant]
    p, entries = symbols("p", len(free))
    bound = bind(obj, {leaf.path: e for leaf, e in zip(free, entries)})
    pairs = [symbols(f"v{i}", len(v)) for i, v in enumerate(vectors)]
    f = ca.Function(
        "f", [p, *(s for s, _ in pairs)], [ca.densify(column(call(bound, *(e for _, e in pairs))))]
    )
    check_constants(f, "test")
    return np.array(f([leaf.value for leaf in free], *vectors)).ravel()


def apart(obj, call, *vectors):
    """Largest difference of the text on floats and on symbols, relative to the entry (at least 1e-3 of the largest)."""
    a, b = on_floats(obj, call, *vectors), on_symbols(obj, call, *vectors)
    assert a.shape == b.shape
    if not a.size:
        return 0.0
    assert np.isfinite(a).all()
    return float((np.abs(a - b) / np.maximum(np.abs(a), 1e-3 * np.abs(a).max() + 1e-300)).max())
