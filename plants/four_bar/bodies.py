"""The four-bar written as bodies, a loop and a drive: crank, coupler and rocker, the loop cut at E, the cylinder from G to F."""

from __future__ import annotations

from plants.four_bar.geometry import pose
from plants.multibody.closings import closings_of
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import GROUND, Actuator, Body, Loop, Pin, Place
from plants.multibody.planar import Closing
from workbench.contract.parameters import unchecked

CYLINDER = "c"  # among the names of the mechanism
ROWS = (0, 1)  # of the loop's constraint: those in its plane
AXES = {"axis": (0.0, 0.0, 1.0), "normal": (1.0, 0.0, 0.0)}


def mechanism(p, closings) -> Mechanism:
    """The mechanism of the four-bar `p`. Nothing is checked, as `p` has been, so that numbers may be expressions."""
    z_2, z_3 = _relative(p)
    return unchecked(
        Mechanism,
        name=p.name,
        bodies=(
            _bar("crank", GROUND, 0.0, p.L_1, p.m_1, p.z_10, hold=True),
            _bar("coupler", "crank", p.L_1, p.L_2, p.m_2, z_2),
            _bar("rocker", "coupler", p.L_2, p.L_3, p.m_3, z_3),
        ),
        loops=(_at_E(p),),
        actuators=(_cylinder(p),),
        gravity=(0.0, -p.g, 0.0),
        method="minimal",
        kept=ROWS,
        used=ROWS,
        closings=closings,
    )


def closings(p) -> tuple[Closing, ...]:
    """How the loop closes: coupler and rocker follow from the crank, in the branch of the start."""
    return closings_of(mechanism(p, ()), [float(z) for z in (p.z_10, *_relative(p))])


def called(circuit) -> dict[str, str]:
    """The four-bar's name of every state of the mechanism, where the two differ."""
    own = {s.name: t.name for s, t in zip(circuit.states(CYLINDER), circuit.states())}
    return {"q_crank": "z_1", "dq_crank": "dz_1"} | own


def causes(circuit) -> dict[str, tuple[str, ...]]:
    """The four-bar's causes in the mechanism's energy account."""
    pairs = zip(circuit.power_names(), circuit.power_names(CYLINDER))
    return {name: (own,) for name, own in pairs}


def _relative(p) -> tuple:
    """z_2, z_3 at the start."""
    at = pose(p, p.z_10)
    return at.a_2 - p.z_10, at.a_3 - at.a_2


def _bar(name: str, parent: str, at, length, mass, start, hold: bool = False) -> Body:
    """A uniform slender beam along x, its joint at one end. Its moment about z stands for all: nothing turns about the others."""
    J = mass * length * length / 12.0
    return unchecked(
        Body,
        name=name,
        parent=parent,
        point=(at, 0.0, 0.0),
        mass=mass,
        com=(0.5 * length, 0.0, 0.0),
        inertia=(J, J, J, 0.0, 0.0, 0.0),
        start=start,
        hold=hold,
    )


def _at_E(p) -> Loop:
    """The pin of the rocker at the ground."""
    rocker = unchecked(Place, body="rocker", point=(p.L_3, 0.0, 0.0), **AXES)
    ground = unchecked(Place, body=GROUND, point=(p.L_0, 0.0, 0.0), **AXES)
    return unchecked(Loop, name="E", a=rocker, b=ground, joint="revolute")


def _cylinder(p) -> Actuator:
    G = unchecked(Pin, body=GROUND, point=(-p.x_G, 0.0, 0.0))
    F = unchecked(Pin, body="crank", point=(p.x_F, 0.0, 0.0))
    return unchecked(Actuator, name=CYLINDER, drive=p.circuit, a=G, b=F)
