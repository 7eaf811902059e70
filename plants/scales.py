"""What is large for each machine (`workbench.verification.scales`): pressures, forces, strokes, speeds at full command.

Of several actuators the weakest force, the shortest stroke and the slowest speed stand for the machine, so that a small
fraction of a scale is small for every one of them; volumes add up.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.verification.scales import SECOND, Scale

GRAVITY = 9.81  # m/s²


def of_crane(crane) -> dict[str, Scale]:
    """A `Manipulator`: cylinders between supply and return, joints between the ends of their strokes."""
    p = crane.p_s
    cylinders = crane.cylinders
    volume = sum(c.A_a * c.stroke for c in cylinders)
    ranges = zip(crane.joint_names, crane.joint_range())
    angles = [high - low for name, (low, high) in ranges if name.startswith("q")]
    speeds = [_crane_speed(c, p - crane.p_r) for c in cylinders]
    found = {
        "energy": Scale(
            p * volume, f"supply {p / 1e5:g} bar × {1e3 * volume:.3g} l of the cylinders"
        ),
        "pressure": Scale(p, "supply pressure"),
        "force": Scale(min(p * c.A_b for c in cylinders), "supply pressure × smallest rod side"),
        "length": Scale(min(c.stroke for c in cylinders), "shortest stroke"),
        "velocity": Scale(min(speeds), "slowest cylinder, valve fully open, without load"),
    }
    if angles:
        found["angle"] = Scale(min(angles), "smallest range of a joint, stroke end to stroke end")
        found["rate"] = Scale(
            min(speeds) * min(angles) / found["length"].value, "that speed, by range and stroke"
        )
    return found


def _crane_speed(c, drop: float) -> float:
    """Speed of a cylinder with its valve fully open, both notches taking `drop` together, in the slower direction."""
    return float((c.valve.u_max - c.valve.dead_band) * min(c.speeds(drop)))


def of_metered_crane(plant) -> dict[str, Scale]:
    """A `MeteredCrane`: its crane's strokes, its own pump and orifices."""
    P = plant.pump.P_M
    cylinders = plant.cylinders
    volume = sum(c.A_a * c.stroke for c in cylinders) + plant.V_p
    found = of_crane(plant.crane)
    speed = Scale(
        min(plant.velocity_gains), "slowest rod, fully open at the pump's relief, without load"
    )
    share = speed.value / found["velocity"].value
    found |= {
        "energy": Scale(
            P * volume,
            f"pump's relief {P / 1e5:g} bar × {1e3 * volume:.3g} l of cylinders and pump's line",
        ),
        "pressure": Scale(P, "pump's relief"),
        "force": Scale(min(P * c.A_b for c in cylinders), "pump's relief × smallest rod side"),
        "velocity": speed,
    }
    if "rate" in found:
        found["rate"] = Scale(share * found["rate"].value, "that speed, by range and stroke")
    return found


def of_arms(plant) -> dict[str, Scale]:
    """`MeteredArms`: cylinders and motors behind the pump's relief; a motor's rod turns."""
    P = plant.pump.P_M
    arms = plant.arms
    ranges = [high - low for low, high in plant.joint_range()]
    found = {
        "pressure": Scale(P, "pump's relief"),
        "angle": Scale(min(ranges), "smallest range of an arm"),
    }
    travels = [_travel(a, span) for a, span in zip(arms, ranges)]
    volume = sum(a.section.A_h * travel for a, travel in zip(arms, travels))
    found["energy"] = Scale(
        P * volume, f"pump's relief {P / 1e5:g} bar × {1e3 * volume:.3g} l of all actuators"
    )
    turning = [a.turns for a in arms]
    for turns, push, travel in ((False, "force", "length"), (True, "torque", None)):
        own = [(a, s) for a, s, t in zip(arms, travels, turning) if t is turns]
        if own:
            found[push] = Scale(
                min(P * a.section.A_r for a, _ in own), "pump's relief × smallest rod side"
            )
        if own and travel:
            found[travel] = Scale(
                min(s for _, s in own), "shortest way of a rod over the range of its arm"
            )
    gain = plant.velocity_gain
    if not any(turning):
        found["velocity"] = Scale(gain, "rods fully open at the pump's relief, without load")
    rates = [gain * span / travel for span, travel in zip(ranges, travels)]
    found["rate"] = Scale(min(rates), "slowest arm at that opening")
    return found


def _travel(arm, span: float) -> float:
    """How far the rod of an arm goes over the arm's range: m, of a motor rad."""
    return arm.i * span if arm.turns else 2.0 * arm.longest_lever


def of_four_bar(plant) -> dict[str, Scale]:
    """A `FourBar`: one cylinder behind a throttle."""
    found = of_sizes([plant.circuit.sizes()])
    ((low, high),) = plant.joint_range()
    angle = Scale(float(high - low), "range of the crank, stroke end to stroke end")
    rate = Scale(
        found["velocity"].value * angle.value / found["length"].value,
        "that speed, by range and stroke",
    )
    return found | {"angle": angle, "rate": rate}


def of_sizes(every: Sequence) -> dict[str, Scale]:
    """Drives with oil, by their `Sizes`."""
    sources = " or ".join(dict.fromkeys(own.source for own in every))
    return {
        "energy": Scale(sum(own.energy for own in every), f"{sources} × volume of the cylinders"),
        "pressure": Scale(min(own.pressure for own in every), sources),
        "force": Scale(min(own.force for own in every), f"{sources} × smallest rod side"),
        "length": Scale(min(own.stroke for own in every), "shortest stroke"),
        "velocity": Scale(
            min(own.speed for own in every), "slowest cylinder, valve fully open, without load"
        ),
    }


def of_drives(cylinders: Sequence, motors: Sequence) -> dict[str, Scale]:
    """Cylinders and motors with oil, by their `Sizes`; those of motors are of one turn, in N m, rad and rad/s."""
    if not motors:
        return of_sizes(cylinders)
    turning = of_sizes(motors)
    words = turning["pressure"].source
    found = of_sizes(cylinders) if cylinders else {}
    before = found["energy"].value if found else 0.0
    pressures = [scale["pressure"] for scale in (found, turning) if scale]
    return found | {
        "energy": Scale(
            before + turning["energy"].value,
            f"{words} × what a turn of every motor takes"
            + (", and the volume of the cylinders" if found else ""),
        ),
        "pressure": min(pressures, key=lambda scale: scale.value),
        "torque": Scale(turning["force"].value, f"{words} × smallest displacement of a motor"),
        "angle": Scale(turning["length"].value, "one turn of a motor's joint"),
        "rate": Scale(turning["velocity"].value, "slowest motor, valve fully open, without load"),
    }


def of_mechanism(plant) -> dict[str, Scale]:
    """A `Mechanism`: its cylinders with oil, else the stated limits and spans of its actuators."""
    every: tuple[list, list] = [], []
    for a in plant.actuators:
        own = a.drive.sizes(plant.line_at_most)
        if own is not None:
            every[a.drive.turns].append(own)
    if any(every):
        return of_drives(*every)
    found = {}
    strong = [
        (a, a.drive.limit)
        for a in plant.actuators
        if a.drive.inputs(a.name) and a.drive.limit is not None
    ]
    for unit, push, way in (("N", "force", "length"), ("N m", "torque", "angle")):
        own = [(a, limit) for a, limit in strong if a.drive.inputs(a.name)[0].unit == unit]
        spans = [
            a.longest - a.shortest
            for a, _ in own
            if a.longest is not None and a.shortest is not None
        ]
        if own:
            found[push] = Scale(
                min(limit for _, limit in own), f"smallest largest {push} of an actuator"
            )
        if spans:
            found[way] = Scale(min(spans), "shortest span of an actuator")
        if own and len(spans) == len(own):
            energy = sum(limit * span for (_, limit), span in zip(own, spans))
            before = found["energy"].value if "energy" in found else 0.0
            found["energy"] = Scale(
                before + energy, "largest forces of the actuators × their spans"
            )
    return found


def of_ieha(plant) -> dict[str, Scale]:
    """An `IEHA`: it states no largest pressure; that of its load at full speed against friction and mass stands for it."""
    stroke = 2.0 * plant.stop_Y.limit
    speed = float(plant.velocity_gain) * plant.stop_E.limit
    area = min(plant.S_A, plant.S_B)
    force = plant.b_v * speed + plant.m * GRAVITY
    pressure = force / area
    words = "force that moves mass and friction at full speed"
    return {
        "energy": Scale(force * stroke, f"{words}, over the whole stroke"),
        "pressure": Scale(pressure, f"{words}, over the piston's area"),
        "force": Scale(force, f"{words}: b_v times the largest speed, and the load's weight"),
        "length": Scale(stroke, "stroke between the stops of Y"),
        "velocity": Scale(speed, "pump at its largest eccentricity"),
    }


def of_linear_actuator(plant) -> dict[str, Scale]:
    """A `LinearActuator`: it has no stroke; how far it goes in a second at full valve stands for it."""
    speed = plant.K * plant.X_max
    return {
        "length": Scale(speed * SECOND, "way in a second with the micro-valve fully open"),
        "velocity": Scale(speed, "speed with the micro-valve fully open"),
    }
