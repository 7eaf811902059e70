"""Numbers of valve circuits, their compiled parts and their drives at random loads: held by a table, see `stored`."""

from itertools import islice

import metering_cases as cases
import numpy as np
import pytest
from mechanisms import CYLINDER, ROD
from stored import held, members
from test_compiled_circuits import drawn
from test_friction import LAWS

from plants import Arm, MeteredArms
from plants.components.valve import Valve, nominal
from plants.drives.contract import Line
from plants.drives.metered_section import MeteredSection
from plants.valve_circuits import Γ, Λ, operating
from plants.valve_circuits.accounts import section as accounts
from plants.valve_circuits.closed import Γ as Γ_closed
from plants.valve_circuits.closed import Λ as Λ_closed
from plants.valve_circuits.closed import sides
from plants.valve_circuits.crossed import crossed, passed
from plants.valve_circuits.diagnosis import _chamber, _pump, suspects
from plants.valve_circuits.inverse import opening, velocity, whole
from plants.valve_circuits.kernel import pumped, section
from plants.valve_circuits.quick import quick
from plants.valve_circuits.roots import given, loaded
from plants.valve_circuits.slopes import dΛ
from plants.valve_circuits.stepping import stepped
from plants.valve_circuits.together import resolved

LINE = Line(180e5, 3e5)


def circuit(seed: int, N: int, regeneration: bool) -> dict:
    """Velocities, forces, pressures and slopes of a random circuit under random openings."""
    rng = np.random.default_rng(seed)
    own = cases.circuit(rng, N)
    u = tuple(cases.openings(rng, int(rng.choice((-1, 1))), regeneration) for _ in range(N))
    u_b = cases.bleed(rng)
    β, f = cases.load(rng, N)
    rows, supply = own.rows(u), own.supply(u_b)
    found, v = np.zeros((N, 9)), np.zeros(N)
    at = Λ(own, u, u_b, β, f)
    return {
        "rows": rows,
        "supply": supply,
        "Λ": at,
        "Γ": Γ(own, u, u_b, at),
        "at rest": Γ(own, u, u_b, np.zeros(N)),
        "operating": operating(own, u, u_b, at),
        "slopes": dΛ(own, u, u_b, β, f),
        "loaded": [loaded(rows, supply, β, f, found, v), v, found.copy()],
        "given": [given(rows, supply, at, found), found.copy()],
        "together": resolved([list(r) for r in rows], supply.tolist(), β.tolist(), f.tolist()),
    }


def sections(seed: int, regeneration: bool) -> list:
    """The compiled ways through single sections."""
    found = []
    for row, β, f, P in islice(drawn(seed, regeneration), 24):
        flows = np.zeros(9)
        at = (-f / β, 1.0 / β)
        x, y = section(row, P, *at)
        found.append(
            {
                "quick": quick(row, β, f, P, 0.0, 0.0),
                "crossed": crossed(row, β, f, P),
                "passed": [passed(row, β, f, P, flows), flows],
                "section": [x, y, pumped(row, P, *at, x, y)],
            }
        )
    return found


def closed(seed: int) -> list:
    """The closed forms, one section on its pump."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(8):
        own = cases.circuit(rng)
        row = [float(e) for e in own.rows(cases.openings(rng, int(rng.choice((-1, 1)))))[0]]
        supply = [float(e) for e in own.supply(cases.bleed(rng))]
        (β,), (f,) = cases.load(rng, 1)
        v = Λ_closed(row, supply, β, f)
        found.append(
            [v, sides(row, supply), [Γ_closed(row, supply, v, up) for up in (False, True)]]
        )
    return found


def drive(own, x) -> dict:
    """What a metered drive gives at a state."""
    found: dict = {"itself": members(own)}
    for k, (u, v) in enumerate(((0.6, 0.05), (-0.4, -0.08), (0.0, 0.02), (1.0, -0.03))):
        at = (x, 0.21, v, [u], LINE)
        found[f"at {k}"] = {
            "work": own.at_work(*at),
            "force": own.force(*at),
            "flow": own.flow(*at),
            "rates": own.rates(*at),
            "port": [own.port(*at, w) for w in (0.5, 2.0)],
            "powers": own.powers(*at),
            "shown": own.shown(*at),
        }
        row = whole(own)
        inverse = opening(row, v, 3e4 * u, LINE.p_s)
        found[f"at {k}"]["inverse"] = inverse
        found[f"at {k}"]["velocity"] = velocity(row, u, [2e-3, 200e5, 1e-6], 1e6, 2e4, LINE.p_s)
    return found


def friction(law) -> dict:
    """Everything a friction law says at several speeds."""
    n = len(law.states("x"))
    found: dict = {"itself": members(law), "states": law.states("x"), "stiff": law.stiff("x")}
    for v in (-0.3, -2e-3, 0.0, 4e-4, 0.05, 1.2):
        z = [1e-5 * (1 + v), 0.3][:n]
        found[f"at {v}"] = {
            "force": law.force(v, z),
            "rate": law.rate(v, z),
            "after": law.after(1e-3, v, z, law.rate(v, z)),
            "loss": law.loss(v, z),
            "stored": law.stored(z),
            "steady": law.steady(v),
            "guards": law.guards(v, z),
            "domain": law.domain(z),
            "observer": law.observer(v, 0.9 * v + 0.01, z),
            "strain": law.strain(z, [1.1 * e for e in z]),
            "storage": law.storage(z, [1.1 * e for e in z]),
            "part": law.part(v, 0.9 * v + 0.01, z, [1.1 * e for e in z]),
        }
    found["slopes"] = [law.slope(top) for top in (1e-3, 0.1, 2.0)]
    found["limits"] = [law.power_limit(), [law.monotone(top) for top in (1e-3, 0.1, 2.0)]]
    return found


def valves() -> dict:
    """Flows, openings and inverses of a four-way valve with overlap and slew."""
    own = Valve(3e-8, 4e-8, 5e-8, 6e-8, u_max=9.0, dead_band=0.3, frequency=41.0, damping=0.63)
    found: dict = {"nominal": nominal(2e-4, 35e5, 9.0), "itself": members(own)}
    for u in (-12.0, -4.0, -0.2, 0.1, 0.5, 7.0):
        p = (70e5, 40e5, 180e5, 3e5)
        D = own.denominators(0.7, 0.4, *p)
        found[f"at {u}"] = {
            "opening": own.opening(u),
            "flows": own.flows(u, *p),
            "supply": own.supply_flow(u, *p),
            "tank": own.tank_flow(u, *p),
            "port": own.port(u, 70e5, 40e5, 3e5, 0.4),
            "denominators": D,
            "inverse": own.invert(1e-4 * u, *D),
            "spool": own.spool_rhs([0.4 * u, 3.0], u),
            "guards": own.guards([0.4 * u, 3.0], u),
        }
    return found


def blamed(held: bool) -> list:
    """Who is suspected where the balances of a section and of its pump leave oil over."""
    rng = np.random.default_rng(17)
    found = []
    for k in range(4):
        P, P_h, P_r = rng.uniform(20e5, 200e5, (3, 30))
        k_v = [2e-6, 0.0, 0.0, 1e-6, 0.0] if k % 2 else [2e-6, 1e-6, 3e-6, 0.0, 5e-7]
        row = [0.02, 0.01, 190e5, 230e5, *k_v]
        s = accounts.Section(row, rng.normal(size=30) * 0.05, 0.02 * P_h - 0.01 * P_r, P_h, P_r)
        flows = {"1": accounts.section_flows(s, P)}
        supply = (3e-3, 360e5, 1e-6 * (k > 1))
        left = [_chamber(s, flows["1"], side, 3e-3) for side in "hr"]
        pump = _pump({"1": s}, flows, supply, P)
        said = suspects(np.linspace(0, 1, 30), {"1": s}, flows, supply, P, held)
        found.append([flows, accounts.losses(s, flows["1"]), left, pump, said])
    return found


def steps():
    """Arms in steps of their own."""
    plant = MeteredArms(arms=(Arm(), Arm("2", L_m=0.7, θ_0=-0.3)))
    return stepped(plant, 0.05, 1e-3, u_c=(0.5, -0.4), f_ey=(100.0, -50.0))


CASES = {
    **{
        f"circuit, {N} sections, {seed}{', regenerating' if way else ''}": (
            lambda seed=seed, N=N, way=way: circuit(seed, N, way)
        )
        for seed, N, way in (
            (1, 1, False),
            (2, 1, True),
            (3, 2, False),
            (4, 2, True),
            (5, 3, True),
            (6, 2, False),
        )
    },
    **{f"sections, {seed}": (lambda seed=seed: sections(seed, False)) for seed in (1, 2)},
    **{
        f"sections, regenerating, {seed}": (lambda seed=seed: sections(seed, True))
        for seed in (3, 4)
    },
    "closed forms": lambda: closed(9),
    "metered section": lambda: drive(MeteredSection(CYLINDER, 0.0), [2e-4]),
    "metered rod": lambda: drive(ROD, [2e-4]),
    "valves": valves,
    "steps": steps,
    "blamed": lambda: blamed(False),
    "blamed, the pump's pressure a state": lambda: blamed(True),
    **{f"friction, {k}": (lambda law=law: friction(law)) for k, law in enumerate(LAWS)},
}


def within(case: str) -> float:
    return 1e-7


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_circuits_are_those_of_the_table(case):
    held("circuits", case, CASES[case], within(case))
