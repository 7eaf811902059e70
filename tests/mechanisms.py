"""Mechanisms for tests: random trees, and loops whose answers are known."""

from dataclasses import replace

import numpy as np

from plants.components.circuit import ThrottledCircuit
from plants.components.cylinder import Cylinder
from plants.components.friction import (
    BengisuAkay,
    BrownMcPhee,
    CoulombViscous,
    LuGre,
    ModifiedLuGre,
)
from plants.components.motor import Motor
from plants.drives.compressible_rod import CompressibleRod
from plants.drives.hydraulic_motor import HydraulicMotor
from plants.drives.ieha_drive import IEHADrive
from plants.drives.laws import Force
from plants.drives.metered_rod import MeteredRod
from plants.drives.metered_section import MeteredSection
from plants.drives.servo_cylinder import ServoCylinder
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Loop, Pin, Place
from plants.supplies.constant import ConstantPressure
from plants.supplies.instant_pump import InstantPump
from plants.supplies.load_sensing import LoadSensing
from plants.supplies.shared_pump import SharedPump
from plants.supplies.two_lines import SelectedLines
from plants.valve_circuits.circuit import Pump, Section


def vector(rng, size=1.0):
    return tuple(map(float, size * rng.normal(size=3)))


def random_inertia(rng):
    """A mass and the tensor of a cloud of points."""
    points = rng.normal(size=(6, 3)) * (0.3, 0.5, 0.7)
    mass = rng.uniform(0.5, 4.0)
    points -= points.mean(axis=0)
    J = sum(mass / 6 * (p @ p * np.eye(3) - np.outer(p, p)) for p in points)
    return float(mass), tuple(map(float, (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])))


def random_tree(seed, n=6, **options):
    """A branching tree of n bodies on joints of every kind."""
    rng = np.random.default_rng(seed)
    kinds = ["revolute", "spherical", "prismatic", "revolute", "fixed"]
    bodies = []
    for j in range(n):
        mass, inertia = random_inertia(rng)
        parent = "ground" if j == 0 else f"b{rng.integers(max(0, j - 3), j)}"
        bodies.append(
            Body(
                f"b{j}",
                parent,
                kinds[(j + seed) % 5],
                vector(rng),
                vector(rng),
                mass,
                vector(rng, 0.3),
                inertia,
            )
        )
    return Mechanism(tuple(bodies), gravity=vector(rng, 5.0), **options)


def random_positions(rng, mechanism):
    """(z, ż): quaternions of unit length."""
    z = rng.normal(size=mechanism.tree.n_z)
    for body, (at, _) in zip(mechanism.bodies, mechanism.tree.z):
        if body.joint == "spherical":
            z[at : at + 4] /= np.linalg.norm(z[at : at + 4])
    return list(map(float, z)), list(map(float, rng.normal(size=mechanism.tree.n_v)))


def bar(name, parent, length, mass, **options):
    """A slender bar along x, its joint at one end."""
    J = mass * length**2 / 12
    return Body(
        name,
        parent,
        mass=mass,
        com=(length / 2, 0.0, 0.0),
        inertia=(J / 50, J, J, 0.0, 0.0, 0.0),
        **options,
    )


def four_bar(**options):
    """The planar four-bar of [Jaiswal21], z_1 held at 60°, a force between F and G instead of its cylinder."""
    given = {
        "actuators": (
            Actuator(
                "cylinder", Force(), Pin("ground", (-1.0, 0.0, 0.0)), Pin("crank", (1.0, 0.0, 0.0))
            ),
        ),
        "loops": (Loop("E", Place("rocker", (5.0, 0.0, 0.0)), Place("ground", (10.0, 0.0, 0.0))),),
    }
    return Mechanism(
        (
            bar("crank", "ground", 2.0, 16.0, start="60 deg", hold=True),
            bar("coupler", "crank", 8.0, 64.0, point=(2.0, 0.0, 0.0), start="-37.90 deg"),
            bar("rocker", "coupler", 5.0, 40.0, point=(8.0, 0.0, 0.0), start="-93.58 deg"),
        ),
        **{**given, **options},
    )


def slider_crank(**options):
    """A spatial slider–crank: crank about z, a rod between two ball joints (one cut), a slider along a slanted line."""
    crank = Body(
        "crank",
        mass=3.1,
        com=(0.12, 0.02, 0.0),
        inertia=(0.01, 0.05, 0.055, 0.002, 0.0, 0.0),
        start=0.4,
        rate=2.0,
        hold=True,
    )
    rod = Body(
        "rod",
        "crank",
        "spherical",
        point=(0.31, 0.0, 0.05),
        mass=1.7,
        com=(0.45, 0.01, 0.0),
        inertia=(0.013, 0.11, 0.12, 0.0, 0.001, 0.0),
        start=(0.0, 0.2, -0.3),
        rate=(1.3, 0.0, 0.0),
    )
    slider = Body(
        "slider",
        "ground",
        "prismatic",
        point=(0.3, 0.1, 0.3),
        axis=(1.0, 0.2, -0.1),
        mass=2.3,
        start=0.6,
        com=(0.02, 0.0, 0.01),
        inertia=(0.02, 0.03, 0.04, 0.0, 0.0, 0.0),
    )
    return Mechanism(
        (crank, rod, slider),
        (Loop("ball", Place("rod", (0.9, 0.0, 0.0)), Place("slider"), "spherical"),),
        **{"gravity": (0.0, -9.81, 0.0), **options},
    )


def bricard(**options):
    """Six revolute joints along the edges of a cube, each axis across both its links: Bricard's mobile loop, the sixth cut."""
    edges = [(1, 0, 0), (0, -1, 0), (0, 0, 1), (-1, 0, 0), (0, 1, 0)]
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    bodies = []
    for k, (edge, axis) in enumerate(zip(edges, axes)):
        J = tuple(0.01 if e else 0.09 for e in edge)
        bodies.append(
            Body(
                f"b{k}",
                f"b{k - 1}" if k else "ground",
                axis=tuple(map(float, axis)),
                mass=1.0 + 0.1 * k,
                point=tuple(map(float, edges[k - 1])) if k else (0.0, 0.0, 0.0),
                com=tuple(0.5 * e for e in edge),
                inertia=(*J, 0.0, 0.0, 0.0),
            )
        )
    last = Loop(
        "sixth",
        Place("b4", (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)),
        Place("ground", (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
    )
    return Mechanism(tuple(bodies), (last,), **options)


def turned(mechanism, **start):
    """The mechanism with other starts, by name of body."""
    return replace(
        mechanism, bodies=tuple(replace(b, **start.get(b.name, {})) for b in mechanism.bodies)
    )


RUBBING = {"F_c": 210.0, "F_s": 300.0, "v_s": 5e-3, "b": 330.0}
FRICTIONS = {
    "Bengisu–Akay": BengisuAkay(**RUBBING, ξ=200.0),
    "Brown–McPhee": BrownMcPhee(**RUBBING),
    "LuGre": LuGre(**RUBBING, σ_0=6e6, σ_1=2e4),
    "modified LuGre": ModifiedLuGre(**RUBBING, σ_0=6e6, σ_1=2e4),
}


def hydraulic(method="projected", friction="Brown–McPhee", **options):
    """The four-bar with the throttled circuit of [Jaiswal21] for a cylinder."""
    circuit = (
        Actuator(
            "c",
            ThrottledCircuit(friction=FRICTIONS[friction]),
            Pin("ground", (-1.0, 0.0, 0.0)),
            Pin("crank", (1.0, 0.0, 0.0)),
        ),
    )
    return four_bar(actuators=circuit, method=method, **options)


ROD = MeteredRod(K=6e6, B=9e4, section=Section(A_h=3e-3, A_r=1.9e-3, P_hM=210e5, P_rM=230e5))
CYLINDER = Cylinder(bore=0.06, rod=0.035, stroke=0.55)


def lift(drive=None, start=0.3, **options):
    """A load on a vertical slide, lifted by a servo cylinder."""
    given = {"supply": ConstantPressure(), "gravity": (0.0, -9.81, 0.0)}
    return Mechanism(
        (Body("load", "ground", "prismatic", axis=(0.0, 1.0, 0.0), mass=310.0, start=start),),
        actuators=(Actuator("c", drive or ServoCylinder(CYLINDER, 0.0), joint="load"),),
        **{**given, **options},
    )


MOTOR = Motor(
    D=9e-6, V=0.18e-3, i=70.0, c_i=3e-13, c_e=7e-14, friction=CoulombViscous(120.0, 700.0)
)


def swing(motor=MOTOR, **options):
    """A beam that a motor swings about a level axis."""
    beam = bar("beam", "ground", 2.1, 160.0, start="20 deg", damping=15.0)
    turned_by = (Actuator("m", HydraulicMotor(motor), joint="beam"),)
    return Mechanism((beam,), actuators=turned_by, **{"supply": ConstantPressure(), **options})


EVERY = {
    "tree": lambda: random_tree(1, 5),
    "four-bar": four_bar,
    "slider-crank": slider_crank,
    "bricard": bricard,
    "hydraulic": hydraulic,
    "servo cylinder": lift,
    "metered section": lambda: lift(MeteredSection(CYLINDER, 0.0), supply=SharedPump()),
    "metered rod": lambda: lift(ROD, supply=InstantPump(Pump(Q=4e-3, P_M=190e5), u_b=0.2)),
    "compressible rod": lambda: lift(CompressibleRod(ROD), supply=SharedPump()),
    "electro-hydraulic": lambda: lift(IEHADrive(middle=0.3), supply=None),
    "motor": swing,
    "load sensing": lambda: lift(supply=LoadSensing()),
    "two lines": lambda: lift(supply=SelectedLines(("c",))),
    "in closed form": lambda: hydraulic("minimal"),
}


def cart_pole(**options):
    """A pole that stands upright on a cart, which a force pushes along a rail; nothing holds the pole."""
    cart = Body("cart", "ground", "prismatic", axis=(1.0, 0.0, 0.0), mass=5.2, damping=1.5)
    pole = bar("pole", "cart", 1.1, 0.7, start="90 deg")
    given = {"actuators": (Actuator("rail", Force(limit=200.0), joint="cart"),)}
    return Mechanism((cart, pole), **{**given, **options})
