"""The default claims of a loop: what is asked where a file or a call names no claims.

Every loop with a law is asked whether it is practically stable; nothing is left out because it is hard to ask: what this loop
cannot be asked is listed in one row, undecided, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.cases.form import kebab
from workbench.contract.capabilities import HasPassivity, HasUniqueness, HasValveAccount
from workbench.contract.declared import LawData
from workbench.contract.errors import InputError
from workbench.contract.plain import Plain
from workbench.contract.system import System, innermost
from workbench.contract.units import as_shown
from workbench.run.scenario import Scenario
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.ledger.balance import has_ledger
from workbench.verification.observed.holding import at_start
from workbench.verification.observed.machine import limits_of
from workbench.verification.observed.path import ON_PATH, path_size
from workbench.verification.practical.meters import meters
from workbench.verification.practical.nominal import SETTLE
from workbench.verification.predictive.defaults import predictive_claims
from workbench.verification.run import error_unit
from workbench.verification.search.of_scenario import MOST_SEED
from workbench.verification.search.score import requirements

FEW = 2  # other starts of a predictive law: each of its samples solves a program
BRIEF = 10.0  # s: what each of them lasts, unless something is not back by then
DRAWS = 8  # of the noise that a loop states: a few per cent of what the other claims cost
SHORT = 3.0  # s: limits are not scanned on runs shorter than this
ON_SCAN = 0.2  # share of a path's size: error that scans of limits allow on a plant without a tool
STILL = 1e-3  # share of a path's size: oscillation below is of no interest
OPEN = (
    "the loop is open: no command answers what is measured, and nothing brings the machine back to a path; to ask only for what"
    " the run must meet, state the claims, such as `claims: {energy-balance: true}`"
)
NO_LIMITS = (
    "neither the supply nor the drives say between which pressures the chambers should stay; to be asked, state"
    " `pressures: {low: …, high: …}`"
)

NO_DRAWS = (
    "the scenario ends within the time that tracking allows for settling, so that runs under other draws of the noise show nothing;"
    " make it longer"
)


@dataclass(frozen=True)
class _Loop:
    """What the choice of claims looks at."""

    loop: System
    scenario: Scenario | None

    @property
    def plant(self):
        return self.loop.plant

    @property
    def closed(self) -> bool:
        return not innermost(self.loop.controller).open

    @property
    def hosted(self) -> bool:
        return self.loop.hosted

    @property
    def jointed(self) -> bool:
        """A crane of structures, or a mechanism with a tool whose law knows it: its tolerances are lengths of its tool."""
        return bool(self.plant.structures) or (has_ledger(self.loop) and self.plant.has_tool)

    @property
    def metered(self) -> bool:
        """Whether metering valves of the plant can be accounted for."""
        return isinstance(self.plant.valves, HasValveAccount)

    @property
    def followed(self) -> bool:
        """Whether the scenario states a reference, or the law takes one; a regulator to zero follows nothing."""
        stated = self.scenario is not None and self.scenario.reference is not None
        return stated or any(s.kind == "reference" for s in self.loop.inputs)

    @property
    def length(self) -> float:
        return self.scenario.length() if self.scenario else 10.0

    @property
    def predictive(self):
        from workbench.verification.predictive.of_run import predictive

        return predictive(self.loop)

    @property
    def linear(self) -> bool:
        from workbench.verification.linear.loop import is_linear

        return is_linear(self.plant)

    @property
    def curved(self) -> str:
        """That the law is a curve, in words; "" where it is none."""
        from workbench.verification.linear.curved import curved_law

        return curved_law(self.loop)

    @property
    def counting(self) -> str:
        """That states of the plant only count, and never come back, in words; "" where there are none."""
        counted = ", ".join(meters(self.loop))
        return f"{counted} only counts, and is neutral by itself" if counted else ""


def defaults(loop: System, scenario: Scenario | None) -> tuple:
    """The default claims, in the order of the table. Raises InputError for a system without a controller."""
    check_closed(loop)
    about = _Loop(loop, scenario)
    size = 0.0 if about.jointed else path_size(loop, scenario)
    unasked: list[tuple[str, str]] = []
    found = [
        *_theorem(about),
        *_linear(about, unasked),
        *_practical(about, unasked),
        *_limits(about, size, unasked),
        *_requirements(about, size, unasked),
        *_machine(about, unasked),
        *predictive_claims(about, unasked),
    ]
    found += _other_draws(about, found, unasked)
    stated = (*about.plant.not_asked, *law_of(loop).not_asked)
    unasked += [(key, why) for key, why in stated if not _asks(found, key)]
    if unasked:
        found.append(run_claims.Unasked(tuple(unasked), counted=not about.closed))
    return tuple(found)


def law_of(loop: System) -> LawData:
    """What the loop's law says of itself: of one that is called from Python the user's object, where it says anything."""
    law = innermost(loop.controller)
    called = law.law if isinstance(law, Plain) else law
    return called if isinstance(called, LawData) else law


def check_closed(loop: System) -> None:
    """InputError for a system without a controller."""
    if loop.controller is None:
        raise InputError(
            f"{type(loop).__name__} is a machine without a controller: there is no loop to ask claims of",
            mend="close it: ClosedLoop(plant, controller), with OpenLoop() to run the machine alone",
        )


def _asks(found: list, key: str) -> bool:
    """Whether a claim of this name is among them."""
    return any(kebab(type(claim).__name__) == key for claim in found)


def _theorem(about: _Loop) -> list:
    if not has_ledger(about.loop):
        return []
    return [C.Hypotheses(), C.Identity(), C.PowerFlows(), C.Inequality()]


def _practical(about: _Loop, unasked: list) -> list:
    if not about.closed:
        unasked.append(("practical-stability", OPEN))
        return []
    settle = _settle(about)
    if about.predictive is None:
        return [C.PracticalStability(settle=settle)]
    brief = min(2 * about.length, BRIEF)
    return [C.PracticalStability(runs=FEW, settle=settle, duration=brief, longest=2 * brief)]


def _settle(about: _Loop) -> float:
    return SETTLE if about.jointed else min(SETTLE, about.length / 3)


def _before_following(about: _Loop) -> float:
    """Time left for settling, s. Of a plant that states no sizes nothing says that 3 s are long: a third of the scenario."""
    return _settle(about) if about.plant.scales() else about.length / 3


def _linear(about: _Loop, unasked: list) -> list:
    """A linear plant's loop is asked for linear stability. Margins of a crane's linearised loop are information (`_machine`)."""
    if about.jointed or not about.closed or not about.linear:
        return []
    if about.predictive is None and about.loop.no_derivative:
        unasked.append(("linear-stability", about.loop.no_derivative))
        return []
    why = ("" if about.predictive is not None else about.curved) or about.counting
    if why:
        unasked.append(("linear-stability", f"{why}; practical stability asks its modes at rest"))
        return []
    return [C.LinearStability()]


def _limits(about: _Loop, size: float, unasked: list) -> list:
    """How far the practical claim reaches in sample time and delay."""
    if about.loop.period is None or not about.closed:
        return []
    if about.hosted:
        who = "plant" if about.plant.on_floats else "law"
        why = f"the {who} is called from Python, and a scan takes a dozen runs; ask for it in `claims` if they are worth it"
        unasked += [("sample-time-limit", why), ("delay-limit", why)]
        return []
    if about.jointed or has_ledger(about.loop):
        return [C.SampleTimeLimit(), C.DelayLimit()]
    if about.metered and about.length > SHORT:
        error = {"error": as_shown(ON_SCAN * size, error_unit(about.loop))} if size else {}
        return [C.SampleTimeLimit(**error)]
    return []


def _requirements(about: _Loop, size: float, unasked: list) -> list:
    plant = about.plant
    law = about.predictive
    unit = error_unit(about.loop)
    found: list = []
    if about.closed and not about.followed:
        unasked.append(("tracking", "neither scenario nor law says where the outputs should be"))
    elif about.jointed and about.closed:
        found.append(run_claims.Tracking())
    elif about.closed:
        error = {"error": as_shown(ON_PATH * size, unit)} if size else {}
        found.append(run_claims.Tracking(**error, settle=_before_following(about)))
    if plant.pressure_names and (plant.p_top is not None or plant.pressure_limits):
        found.append(run_claims.Pressures(*plant.pressure_limits))
    elif plant.pressure_names:
        unasked.append(("pressures", NO_LIMITS))
    if about.metered:
        found.append(run_claims.NoCavitation())
    if about.closed and plant.limits():
        predictive = law is not None and not about.jointed  # it keeps the limits in its prediction
        found.append(run_claims.Saturation(counted=not predictive))
    if about.closed:
        floor = {"floor": as_shown(STILL * size, unit)} if size and not about.jointed else {}
        found.append(run_claims.Settled(**floor))
    return found


def _other_draws(about: _Loop, asked: list, unasked: list) -> list:
    """A small search over other draws of the noise that the loop states itself.

    It is the one search that varies nothing beyond what the case says: how far a load, an oil or a start may be off is nobody's
    to assume but the user's.
    """
    noisy = any(s.kind == "noise" for s in about.loop.inputs)
    if not noisy or about.hosted or not requirements(asked):
        return []
    if any(isinstance(c, run_claims.Tracking) and about.length <= c.settle for c in asked):
        unasked.append(("falsify", NO_DRAWS))
        return []
    return [C.Falsify(over={"seed": (0, MOST_SEED)}, budget=DRAWS)]


def _machine(about: _Loop, unasked: list) -> list:
    plant = about.plant
    found: list = []
    if limits_of(plant):
        found.append(run_claims.MachineLimits())
    if at_start(plant):
        found.append(run_claims.HoldsWeight())
    if plant.power_names:
        found.append(run_claims.EnergyBalance())
    found += _valves(about, unasked)
    if about.jointed and about.hosted:
        unasked.append(
            ("linear", "the law is called from Python, and nothing says what it does near rest")
        )
    elif about.jointed and about.closed:
        found.append(C.Linear())
    return found


def _valves(about: _Loop, unasked: list) -> list:
    """What metering valves lose, and what their circuit proves."""
    valves = about.plant.valves
    found: list = []
    if about.metered:
        found.append(run_claims.ValveLosses())
    if isinstance(valves, HasUniqueness):
        found.append(C.UniqueVelocity())
    if isinstance(valves, HasPassivity):
        if about.plant.no_passivity:
            unasked.append(("incremental-passivity", about.plant.no_passivity))
        else:
            found.append(C.IncrementalPassivity())
    return found
