"""Planted faults: a loop and its scenario with one thing wrong, and words that name it.

Loops of one kind differ in numbers only, so that each kind is compiled once.
"""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from ledger_cases import PATH, REAL, heavier

from controllers.force_position import ForcePosition
from controllers.pid.law import PID
from controllers.vdc import VDC
from plants import FourBar, MeteredCrane, machine
from workbench import (
    ClosedLoop,
    Delayed,
    Filtered,
    Noisy,
    Quantised,
    Sampled,
    Scenario,
    Sine,
    Waypoints,
    changed,
)
from workbench.contract.plain import Plain
from workbench.contract.wrappers.around import Around

WALK = Scenario(reference=PATH, duration=4.0)
BRIEF = replace(WALK, duration=0.4, offset={"q_1": 0.01, "q_2": -0.01})
OFF = replace(WALK, offset={"q_1": 0.02})
LINEAR = machine("ieha-published-linear").plant
SWING = Scenario(reference=Sine("output", (0.0,), (0.01,), 0.5), duration=3.0)
BARS = FourBar()
CRANK = Scenario(
    reference=Waypoints("joint", ("start", (BARS.z_10 - 0.1,), "start"), 2.5), duration=5.0
)
METERED = MeteredCrane(REAL)
METERED_WALK = replace(WALK, reference=replace(PATH, leg=1.5), duration=4.0)


@final
@dataclass(frozen=True, eq=False)
class Wired(Around):
    """Wires between machine and law: commands and measurements in another order, times a factor each."""

    inner: Any
    commands_from: tuple[int, ...] = ()
    commands_times: tuple[float, ...] = ()
    measured_from: tuple[int, ...] = ()
    measured_times: tuple[float, ...] = ()

    def _seen(self, y):
        order = self.measured_from or range(len(y))
        factors = self.measured_times or (1.0,) * len(y)
        return [k * y[i] for i, k in zip(order, factors)]

    def _sent(self, u):
        order = self.commands_from or range(len(u))
        factors = self.commands_times or (1.0,) * len(u)
        return [k * u[i] for i, k in zip(order, factors)]

    def command(self, t, z, y, r):
        return self._sent(self.inner.command(t, z, self._seen(y), r))

    def rhs(self, t, z, y, r):
        return self.inner.rhs(t, z, self._seen(y), r)

    def start(self, t, z, y, r):
        return self.inner.start(t, z, self._seen(y), r)

    def step_at(self, T_s, t, z, y, r):
        memory, u = self.inner.step_at(T_s, t, z, self._seen(y), r)
        return memory, self._sent(u)


def vdc(plant=REAL, model=None, T_s=1e-3, delay=0.0, σ=0.0, step=1e-9, corner=300.0, **gains):
    """A crane under VDC behind every wrapper there is."""
    seen = Quantised(
        Noisy(VDC(model=model or plant, **gains), σ=σ, signals=("p",)), step, signals=("q",)
    )
    sampled = Sampled(Filtered(seen, corner, signals=("p",)), T_s)
    return ClosedLoop(plant, Delayed(sampled, delay, capacity=40))


def wired(law=None, **wires):
    """The crane behind faulty wires, for runs of some tenths of a second."""
    return ClosedLoop(REAL, Sampled(Wired(law or VDC(model=REAL), **wires), 1e-3))


def pid(plant=REAL, T_s=1e-3, delay=0.0, model=None, **gains):
    """The crane under PID."""
    return ClosedLoop(
        plant, Delayed(Sampled(PID(model=model or plant, **gains), T_s), delay, capacity=40)
    )


def linear(plant=LINEAR, **gains):
    """The linear actuator under PID."""
    return ClosedLoop(plant, Sampled(PID(model=LINEAR, **(PID.suited(LINEAR) | gains)), 1e-3))


def own(gain):
    """The linear actuator under a law of a user's own."""

    def law(t, y, r):
        return [gain * (r[0] - y[0])]

    return ClosedLoop(LINEAR, Plain(law, measured=("Y",), references=("Y_d",)))


def crank(plant=BARS, model=None, T_s=1e-3, **gains):
    """The four-bar under its own decomposition control."""
    return ClosedLoop(plant, Sampled(ForcePosition(model or plant, **gains), T_s))


def metered(plant=METERED, model=None, T_s=1e-3, **gains):
    """The crane behind metering valves."""
    return ClosedLoop(plant, Sampled(VDC(model or plant, **gains), T_s))


def told(change, plant=REAL):
    """The machine with a change the controller does not know."""
    return vdc(changed(plant, change), plant)


SIDES = tuple(range(4)) + (5, 4, 7, 6)  # chambers a and b of both cylinders
DEGREES = (180 / np.pi,) * 4 + (1.0,) * 4
BAR = (1.0,) * 4 + (1e-5,) * 4


def faults():
    """name → (loop, scenario, words that name it); built where they are asked for, which takes seconds."""
    return of_vdc() | of_wires() | of_other_laws()


def of_vdc():
    """Of the crane under VDC: wrong numbers of machine, valves, sampling and gains."""
    return {
        "payload heavier than told": (told({"payload.mass": 180.0}), WALK, "payload.mass"),
        "payload believed": (
            vdc(REAL, changed(REAL, {"payload.mass": 300.0})),
            WALK,
            "payload.mass",
        ),
        "masses believed 2.5 times": (vdc(REAL, heavier(REAL, 2.5)), WALK, "mass"),
        "dry friction unknown": (told({"all.friction.F_c": 40e3}), WALK, "friction.F_c"),
        "slow valves unknown": (told({"all.valve.frequency": 2.0}), WALK, "valve.frequency"),
        "slow valves": (vdc(changed(REAL, {"all.valve.frequency": 2.5})), WALK, "valve.frequency"),
        "one slow valve": (
            vdc(changed(REAL, {"lift.valve.frequency": 1.0})),
            OFF,
            "valve.frequency",
        ),
        "narrow valves": (told({"all.valve.c_p1": 1e-9, "all.valve.c_n2": 1e-9}), OFF, "valve.c_"),
        "overlap unknown": (told({"all.valve.dead_band": 3.0}), OFF, "dead_band"),
        "small stroke of the spools": (told({"all.valve.u_max": 0.3}), OFF, "valve.u_max"),
        "slow slew": (told({"all.valve.slew": 3.0}), OFF, "valve.slew"),
        "delay of 25 ms": (vdc(delay=25e-3), OFF, "delay of 25 ms"),
        "sample time of 25 ms": (vdc(T_s=25e-3), OFF, "sample time of 25 ms"),
        "noise on pressures": (vdc(σ=3e6), WALK, "noise"),
        "coarse encoder": (vdc(step=0.02), WALK, "resolution"),
        "slow filter": (vdc(corner=1.0), OFF, "filter of 1 Hz"),
        "force gain in other units": (vdc(βk_f=(12e4,)), OFF, "βk_f"),
        "position gain per ms": (vdc(λ=(8000.0,)), OFF, "λ"),
        "position gain per ks": (vdc(λ=(0.008,)), OFF, "λ"),
        "velocity gain of mm": (vdc(k_x=(6.0,)), OFF, "k_x"),
        "body gain a thousand times": (vdc(κ=10e3), OFF, "κ"),
        "push at the tip": (vdc(), replace(WALK, disturbances={"f_Dy": 12e3}), "disturbance f_Dy"),
    }


def of_wires():
    """Of wires and units between the crane and its law."""
    return {
        "all commands reversed": (
            wired(commands_times=(-1.0, -1.0)),
            BRIEF,
            "sign of all commands",
        ),
        "one command reversed": (
            wired(commands_times=(1.0, -1.0)),
            BRIEF,
            "sign of the command u_2",
        ),
        "commands swapped": (wired(commands_from=(1, 0)), BRIEF, "commands u_1 and u_2 swapped"),
        "one measurement reversed": (
            wired(measured_times=(1.0, 1.0, 1.0, -1.0) + (1.0,) * 4),
            BRIEF,
            "sign of the measurement dq_2",
        ),
        "rates swapped": (
            wired(measured_from=(0, 1, 3, 2, 4, 5, 6, 7)),
            BRIEF,
            "dq_1 and dq_2 swapped",
        ),
        "angles swapped": (
            wired(measured_from=(1, 0, 2, 3, 4, 5, 6, 7)),
            BRIEF,
            "q_1 and q_2 swapped",
        ),
        "pressures in bar": (wired(measured_times=BAR), BRIEF, "unit of the measurement p_a1"),
        "one angle in degrees": (
            wired(measured_times=(180 / np.pi,) + (1.0,) * 7),
            BRIEF,
            "unit of the measurement q_1",
        ),
        "commands in mV": (wired(commands_times=(1e3, 1e3)), BRIEF, "unit of the commands"),
    }


def of_other_laws():
    """Of other laws and other machines."""
    return {
        "PID, gain a hundred times": (pid(K_p=(7000.0,)), OFF, "K_p"),
        "PID, integral in other units": (pid(K_i=(120e3,)), OFF, "K_i"),
        "PID, pressure gain a thousand times": (pid(K_f=(1.2e-2,)), OFF, "K_f"),
        "PID, pistons swapped": (pid(signals=("x_2", "x_1")), WALK, "commands u_1 and u_2 swapped"),
        "PID, delay of 80 ms": (pid(delay=39e-3, K_p=(140.0,)), OFF, "delay"),
        "PID, commands reversed": (
            wired(PID(model=REAL), commands_times=(-1.0, -1.0)),
            BRIEF,
            "sign of all commands",
        ),
        "PID of an actuator, a thousand times": (linear(K_p=(390.0,)), SWING, "K_p"),
        "an actuator slower than told": (linear(replace(LINEAR, λ_1=0.3)), SWING, "λ_1"),
        "an actuator faster than told": (linear(replace(LINEAR, K=11540.0)), SWING, "plant.K "),
        "own law of the wrong sign": (own(-0.4), SWING, "positive feedback"),
        "own law a thousand times": (own(400.0), SWING, "gain from Y to X"),
        "own law a thousandth": (own(4e-4), SWING, "gain from Y to X"),
        "four-bar, coupler believed light": (crank(replace(BARS, m_2=300.0), BARS), CRANK, "m_2"),
        "four-bar, 80 ms": (crank(T_s=80e-3), CRANK, "sample time"),
        "four-bar, position gain per ms": (crank(λ=5000.0), CRANK, "λ"),
        "four-bar, slow spool": (
            crank(replace(BARS, circuit=replace(BARS.circuit, τ=0.6))),
            CRANK,
            "circuit.τ",
        ),
        "metered, payload unknown": (
            metered(changed(METERED, {"payload.mass": 200.0}), METERED),
            METERED_WALK,
            "payload.mass",
        ),
        "metered, 40 ms": (metered(T_s=40e-3), METERED_WALK, "sample time"),
        "metered, position gain per ms": (metered(λ=(8000.0,)), METERED_WALK, "λ"),
    }


# Those whose like is in the list already, or whose runs take seconds.
SLOW = (
    "payload believed",
    "slow valves",
    "one slow valve",
    "narrow valves",
    "velocity gain of mm",
    "rates swapped",
    "one measurement reversed",
    "all commands reversed",
    "push at the tip",
    "PID, pressure gain a thousand times",
    "metered, payload unknown",
    "metered, 40 ms",
    "metered, position gain per ms",
)
