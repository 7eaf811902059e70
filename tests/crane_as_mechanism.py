"""A shipped crane written as a mechanism: arm, cylinder case and piston of every structure, and of an extension its rod, as bodies.

Names: arm1, case1, piston1, …, rod2; cylinders have the crane's labels, c1, c2, ct2 with `label` before them.
"""

import numpy as np
from oracles.paper_crane import close

from plants.components.spatial import Frame, add, turn, unturn
from plants.drives.laws import Force
from plants.drives.servo_cylinder import ServoCylinder
from plants.metered.crane import MeteredCrane
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Loop, Place
from plants.supplies.constant import ConstantPressure
from workbench.contract.system import names

AT = (0.0, 0.0, 0.0)


def solid(body):
    return {"mass": body.mass, "com": body.com, "inertia": body.inertia}


def plain(frame):
    return Frame(tuple(map(float, frame.r)), tuple(map(float, frame.R)))


def force(segment, closed):
    return Force()


def as_mechanism(crane, q, rates=None, drive=force, label="c", **options):
    """The crane at joint positions q; `drive(segment, closed)` gives what acts on a piston whose joint is at `closed` at x = 0."""
    rates = rates or [0.0] * crane.n
    positions, speeds = iter(q), iter(rates)
    bodies, loops, actuators = [], [], []
    parent, end, turned = "ground", Frame(), 0.0
    for j, structure in enumerate(crane.structures, 1):
        r, slide = structure.revolute, structure.prismatic
        angle = float(next(positions))
        k = close(r.L, r.L1, angle)
        last = j == len(crane.structures)
        beyond = crane.payload if last else crane.structures[j].revolute.link
        arm, following = r.arm, Frame((r.L1, 0.0, 0.0)).then(r.end)
        if slide is not None:
            tube = plain(following)
            arm = arm.joined(slide.tube.moved(tube))
            start = plain(tube.then(slide.start))
            tip = plain(Frame(AT, start.R).then(slide.rod_end))
            following = tip.then(slide.end)
            rod = slide.rod.moved(Frame(AT, start.R)).joined(slide.object.moved(tip))
            rod = rod.joined(beyond.moved(plain(following)))
        else:
            arm = arm.joined(beyond.moved(plain(following)))
        following = plain(following)
        elbow = tuple(map(float, add(end.r, turn(end.R, (r.L, 0.0, 0.0)))))
        bodies += [
            Body(
                f"arm{j}",
                parent,
                point=elbow,
                start=turned + angle,
                rate=float(next(speeds)),
                hold=True,
                **solid(arm),
            ),
            Body(
                f"case{j}",
                parent,
                point=end.r,
                start=turned + float(np.arctan2(k.s1, k.c1)),
                **solid(r.case),
            ),
            Body(
                f"piston{j}",
                f"case{j}",
                "prismatic",
                axis=(1.0, 0.0, 0.0),
                start=float(k.d) - r.l_c,
                **solid(r.piston),
            ),
        ]
        loops.append(
            Loop(
                f"pin{j}",
                Place(f"piston{j}", (r.l_c, 0.0, 0.0)),
                Place(f"arm{j}", (r.L1, 0.0, 0.0)),
            )
        )
        actuators.append(Actuator(f"{label}{j}", drive(r, r.x0 - r.l_c), joint=f"piston{j}"))
        parent, end = f"arm{j}", following
        turned = float(np.arctan2(end.R[3], end.R[0]))
        if slide is not None:
            bodies.append(
                Body(
                    f"rod{j}",
                    parent,
                    "prismatic",
                    point=start.r,
                    axis=tuple(map(float, turn(start.R, (1.0, 0.0, 0.0)))),
                    start=float(next(positions)),
                    rate=float(next(speeds)),
                    hold=True,
                    **solid(rod),
                )
            )
            actuators.append(Actuator(f"{label}t{j}", drive(slide, 0.0), joint=f"rod{j}"))
            parent = f"rod{j}"
    up = unturn(crane.base.R, (0.0, crane.g, 0.0))
    return Mechanism(
        tuple(bodies), tuple(loops), tuple(actuators), tuple(-float(v) for v in up), **options
    )


def joint_angles(crane):
    """Position of arm j at q_j = 0: what the frames between the structures turn."""
    found, turned = [], 0.0
    for structure in crane.structures:
        found.append(turned)
        end = Frame().then(structure.revolute.end)
        if structure.prismatic is not None:
            for part in (structure.prismatic.start, structure.prismatic.rod_end):
                end = plain(end).then(part)
            end = plain(end).then(structure.prismatic.end)
        R = plain(end).R
        turned = float(np.arctan2(R[3], R[0]))
    return found


def with_servos(crane, q=None, **options):
    """The crane as a mechanism behind its own valves."""
    given = {"method": "minimal", "supply": ConstantPressure(crane.p_s, crane.p_r, crane.Q_max)}
    return as_mechanism(
        crane,
        crane.initial()[: crane.n] if q is None else q,
        drive=lambda segment, closed: ServoCylinder(segment.cylinder, closed, crane.oil),
        **{**given, **options},
    )


def translated(plant, mechanism, x):
    """A state of the crane, whatever drives it, as one of the mechanism."""
    at = dict(zip(names(plant.states), x))
    crane = plant.crane if isinstance(plant, MeteredCrane) else plant
    found = {name: at[name] for name in names(mechanism.supply.states())}
    offsets = joint_angles(crane)
    for label in plant.labels:
        j = label.removeprefix("t")
        if label.startswith("t"):
            found |= {f"x_rod{j}": at[f"x_{label}"], f"dx_rod{j}": at[f"dx_{label}"]}
        else:
            found |= {
                f"q_arm{j}": at[f"q_{label}"] + offsets[int(j) - 1],
                f"dq_arm{j}": at[f"dq_{label}"],
            }
        (actuator,) = [a for a in mechanism.actuators if a.name == f"c{label}"]
        for mine in names(actuator.drive.states(actuator.name)):
            stem = mine.removesuffix(f"_c{label}")
            found[mine] = at[f"{stem}_{label}" if f"{stem}_{label}" in at else f"{stem}{label}"]
    return [found[name] for name in names(mechanism.states)]


def rates_of(plant, mechanism, x, u):
    """The crane's rhs as one of the mechanism."""
    still = translated(plant, mechanism, [0.0] * len(x))
    rates = translated(plant, mechanism, plant.rhs(0.0, x, u))
    return [a - b for a, b in zip(rates, still)]


def random_state(crane, rng):
    """Joints inside their ranges, rates, pressures between return and supply, spools and bristles anywhere."""
    x = []
    for low, high in crane.joint_range():
        x.append(rng.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low)))
    for s in crane.states[crane.n :]:
        size = {"Pa": 185e5, "V": 8.0, "V/s": 300.0, "m": 1e-5}.get(s.unit, 0.3)
        x.append(rng.uniform(0.1, 1.0) * size if s.unit == "Pa" else rng.normal() * size)
    return [float(v) for v in x]
