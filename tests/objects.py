"""Every public class that checks itself, and a sound object of each."""

import dataclasses
import importlib
import pkgutil
from typing import Any

import mechanisms
from small import Linear

import controllers
import plants
import workbench
from controllers import LQR, MPC, PID, VDC, ForcePosition, Observer
from controllers.mpc.parts import Limit
from controllers.vdc.body_gain import BodyGain
from plants import MeteredCrane, MotorArm, machine
from plants.components.cylinder import Cylinder, Walls
from plants.components.valve import Nominal
from plants.crane.load_sensing import LoadSensed, TwoLines
from plants.drives.compressible_rod import CompressibleRod
from plants.drives.metered_section import MeteredSection
from plants.multibody.parts import Loop
from plants.multibody.points import NamedPoint
from plants.supplies.each import EachPressure
from plants.supplies.two_lines import SelectedLines
from workbench import Delayed, Filtered, Sampled
from workbench.identification.signals import PRBS, Chirp, MultiSine, Pulse
from workbench.interop.linear_plant import LinearPlant
from workbench.verification.claims import ParameterLimit, Probability
from workbench.verification.probability.claims import Spread
from workbench.verification.proofs import RobustStability, Tube

PUBLIC = (plants, controllers, workbench)
# Results, which a computation fills, and forms of a file, which `build` fills and checks itself.
MADE = (
    "workbench.cases.form",
    "workbench.run.fused",
    "workbench.identification.records",
    "workbench.run.metrics",
    "workbench.planning",
    "workbench.contract.machine_limits",
    "workbench.sweep",
    "workbench.verification.verdict",
    "controllers.pid_tuning.relay_law",
    "plants.crane.planar",
)


def classes() -> dict[str, type]:
    """Every public frozen dataclass that checks itself: results need not."""
    found = {}
    for package in PUBLIC:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.startswith(MADE):
                continue
            for name, cls in vars(importlib.import_module(module.name)).items():
                own = (
                    isinstance(cls, type)
                    and dataclasses.is_dataclass(cls)
                    and cls.__module__ == module.name
                )
                if own and hasattr(cls, "__post_init__") and not name.startswith("_"):
                    found[f"{module.name}.{name}"] = cls
    return found


class Seen(Linear):
    """Measures its states."""

    outputs = property(lambda self: self.states)


SMALL = Seen(A=((0.0, 1.0), (-2.0, -0.7)), B=((0.0,), (1.0,)), C=((1.0, 0.0), (0.0, 1.0)))
CART = mechanisms.cart_pole()
CRANE = machine("hiab-xs031").plant.locked(extension=0.37)


def sound(path: str, cls: type) -> Any:
    """A sound object of the class: one of GIVEN, its defaults, or a part of a shipped machine."""
    make = GIVEN.get(path) or GIVEN.get(cls.__name__)
    if make:
        return make()
    needed = [
        f
        for f in dataclasses.fields(cls)
        if f.init and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    if not needed:
        return cls()
    for name in ("hiab-xs031", "four-bar", "ieha-control", "ieha-published-linear"):
        found = _inside(machine(name).plant, cls)
        if found is not None:
            return found
    return None


def _inside(thing: Any, cls: type) -> Any:
    if isinstance(thing, cls):
        return thing
    parts = (
        thing
        if isinstance(thing, tuple)
        else vars(thing).values()
        if dataclasses.is_dataclass(thing)
        else ()
    )
    return next((found for part in parts if (found := _inside(part, cls)) is not None), None)


GIVEN = {
    "NamedPoint": lambda: NamedPoint("rod", (0.6, -0.1)),
    "VDC": lambda: VDC(CRANE),
    "PID": lambda: PID(CRANE),
    "MPC": lambda: MPC(SMALL, Q=(1.0,), R=(1.0,)),
    "Sampled": lambda: Sampled(PID(CRANE)),
    "Delayed": lambda: Delayed(Sampled(PID(CRANE))),
    "Filtered": lambda: Filtered(PID(CRANE)),
    "Saturated": lambda: workbench.Saturated(PID(CRANE)),
    "Noisy": lambda: workbench.Noisy(PID(CRANE)),
    "Quantised": lambda: workbench.Quantised(PID(CRANE)),
    "Observer": lambda: Observer(σ_y=(1.0,), σ_d=(1.0,)),
    "Hold": lambda: workbench.Hold("joint"),
    "Sine": lambda: workbench.Sine("joint", "start", (0.1, 0.2), 1.0),
    "Waypoints": lambda: workbench.Waypoints("joint", ("start", (0.1, 0.2)), 1.0),
    "Steps": lambda: workbench.Steps("output", (0.0, 1.0), (1.0, 2.0)),
    "Nominal": lambda: Nominal(6e-4, 5e5),
    "LoadSensed": lambda: LoadSensed(CRANE),
    "TwoLines": lambda: TwoLines(CRANE),
    "MotorArm": lambda: MotorArm(90.0),
    "MeteredCrane": lambda: MeteredCrane(CRANE),
    "Mechanism": lambda: CART,
    "Walls": lambda: Walls(B_h=7e8, V_ha=1e-4, V_hb=1e-4),
    "MeteredRod": lambda: mechanisms.ROD,
    "CompressibleRod": lambda: CompressibleRod(mechanisms.ROD),
    "SelectedLines": lambda: SelectedLines(("c",)),
    "MeteredSection": lambda: MeteredSection(Cylinder(0.06, 0.035, 0.55), 0.0),
    "ServoCylinder": lambda: mechanisms.lift().actuators[0].drive,
    "EachPressure": lambda: EachPressure((90e5, 140e5)),
    "HydraulicMotor": lambda: mechanisms.swing().actuators[0].drive,
    "plants.components.motor.Motor": lambda: mechanisms.MOTOR,
    "plants.multibody.parts.Body": lambda: CART.bodies[0],
    "Loop": lambda: _inside(mechanisms.four_bar(), Loop),
    "Actuator": lambda: CART.actuators[0],
    "ForcePosition": lambda: ForcePosition(machine("four-bar").plant),
    "LQR": lambda: LQR.design(SMALL, 1.0, 1.0),
    "Limit": lambda: Limit("x0", -1.0, 1.0),
    "BodyGain": lambda: BodyGain("lift.B0", tuple(float(i % 7 == 0) for i in range(36))),
    "Pulse": lambda: Pulse("output", 1.0),
    "Chirp": lambda: Chirp("output", 1.0),
    "MultiSine": lambda: MultiSine("output", 1.0),
    "PRBS": lambda: PRBS("output", 1.0),
    "LinearPlant": lambda: LinearPlant((-1.0,), (1.0,), (1.0,), ("x",), ("u",), ("x",)),
    "ParameterLimit": lambda: ParameterLimit("payload.mass"),
    "Spread": lambda: Spread(uniform=("1 m", "2 m")),
    "Probability": lambda: Probability("always (x < 1 m)", {"c": Spread(uniform=("1 m", "2 m"))}),
    "Tube": lambda: Tube({"x": "1 mm"}),
    "RobustStability": lambda: RobustStability({"K": (1.0, 2.0)}),
    "Deviated": lambda: workbench.Deviated(
        workbench.Spline("output", (0.0, 1.0), ((1.0,), (2.0,))),
        (0.2, 0.5, 0.9),
        ((0.0,), (0.3,), (0.0,)),
    ),
    "Spline": lambda: workbench.Spline("output", (0.0, 1.0), ((1.0,), (2.0,))),
}
