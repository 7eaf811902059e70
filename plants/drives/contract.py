"""The contract of a drive, the part of an actuator that gives its force. `Drive` has defaults for a drive without oil and states.

A drive acts along the line between two pins at the distance s, or on a joint at the position s; ṡ is the rate of s. `label` is its
actuator's name, x are the drive's states, u its inputs, `line` the pressures of its supply (`Line`).

  1. A drive is a frozen dataclass; its annotated numbers are parameters (`workbench.contract.parameters`).
  2. `states(label)`, `inputs(label)`, `logged(label)` are tuples of Signal; x, u and `shown` have their length and order.
     `sensed(label)` are further measured signals, `sense(x, s)` their values.
  3. `force(x, s, ṡ, u, line)` acts along the extension: N, or N m on a revolute joint. `rates(x, s, ṡ, u, line)` is ẋ.
     A law (`is_law`) has no states: its force follows from s, ṡ and u alone.
  4. `powers(x, s, ṡ, u, line)`, in W by `power_names(label)`, add up to d(`stored(x, s)`)/dt + F ṡ.
  5. `flow(x, s, ṡ, u, line)` is what it takes from the supply, m³/s. `port(x, s, ṡ, u, line, w)` is the pressure [Pa] of the
     chamber that is open to the supply, or that of the return where none is; in between it is blended over an opening of w.
     `areas` [m², or m³/rad] are the volumes that a metre (radian) of s takes from the supply, moving out and back.
     `needs_supply`: the drive takes oil of a supply; the machine then logs its flow as Q_s_….
  6. `initial(s, force, line)` are its states at rest under that force; InputError where there are none.
  7. `guards(x, s, ṡ, u)`, `stiff(label)`: as in `workbench.contract.system`. `steep`: the force may change fast with ṡ.
     `equal_steps`: the oil is so stiff, and the states are so well damped, that the machine is integrated by equal steps of an
     L-stable method. `step_errors(label)`: where an L-stable method with adaptive steps is needed, the error that a step may make
     in each state, in its unit; such steps end where the state `edges(label)[0]` has one of the values `edges(label)[1]`, and
     every `pulse` seconds (0: never).
  8. `range` is (least, largest) s that the drive can span. `limit` is its largest input, both ways, None: unlimited;
     `limits(label)` are the ranges of all its inputs. `bears(line)` is (least, greatest) force that it can hold at rest;
     `bears_by(line)` says in words what limits it.
  9. `pressures(label)` names the pressures of its chambers. `vacuum` [Pa] is the pressure below which the equations of its oil do
     not hold, None where they always do. `pressure_limits` is (least, greatest) pressure [Pa] that its chambers should have, ()
     where it states none. `machine_limits(label, key)` are its limits besides stroke and command; key: its place in a case.
 10. `sizes(line)` are its scales (`Sizes`), None without oil. `velocity_gain_on(line)` is ṡ per unit of input without load; None
     where the input sets no velocity. `loop_rate` [1/s] is the bandwidth that a position loop around it can have, `integral_rate`
     [1/s] the K_i/K_p that suits it. `cuts_commands`: an input beyond its limit acts as the limit.
 11. `behind(x, s, ṡ, u)` is what a supply needs whose pressure is no state (`Behind`); None: no such supply serves this drive.
 12. `metering(label)` is a drive behind quasistatic metering valves as a section of a circuit of that name
     (`plants.valve_circuits.circuit.Section`); None of any other drive. Such a drive has `damping` [N s/m], `regenerated(u)`, the
     opening of regeneration, and a state rod_…, the place of its piston as the valves set it; it logs f_p_…, P_h_…, P_r_….
     `valves` names its metering valves, also those of a drive with compressible oil: each is a cause VALVE_LABEL among its
     powers. `just_shut` is the command at which they all just close, where force and rates have no derivative; None: there is none.
 13. `notched(label)` names the signals of two chambers behind one spool (`workbench.contract.declared.Notched`); None of a drive
     without such chambers.
 14. `check_pins(owner)`: InputError, naming the part `owner`, where it cannot sit between two pins.

The same text runs on floats and on expressions: no `if` on a value of x, s, ṡ, u or line.

To add a drive: a class in a file of this folder, its name in `plants.drives.kinds`, a line in the tests' list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from typing import ClassVar, NamedTuple

from workbench.contract.declared import Notched
from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Limit
from workbench.contract.system import Signal


class Behind(NamedTuple):
    """A quasistatic section for a pump without a state: its row (`Circuit.rows`), and β, f̄ (`held`) of β v + f̄ ∈ Γ(v)."""

    row: list
    β: object
    held: object


class Settled(NamedTuple):
    """One of the sections that share a pump without a state: its velocity v [m/s], and the flow that it takes [m³/s].

    pair: (P_h, P_r) [Pa] where it can regenerate, else None. left: what the balance of the pump's flow misses, over Q.
    """

    speed: object
    flow: object
    pair: tuple | None
    left: object


class Line(NamedTuple):
    """The supply of a drive: pressures of the pump's line and of the return line, Pa.

    settled: the motion of the drive, where the supply found its pressure and the motion of all its drives together; else None.
    """

    p_s: object
    p_r: object
    settled: Settled | None = None


class Sizes(NamedTuple):
    """What is large for a drive with oil: pressure [Pa], energy [J], force [N], stroke [m], speed [m/s]; source: which pressure."""

    pressure: float
    source: str
    energy: float
    force: float
    stroke: float
    speed: float


class Drive(ABC):
    """What moves one actuator of a `Mechanism`; what a subclass has to give is numbered in `plants.drives.contract`."""

    is_law: ClassVar[bool] = False
    needs_supply: ClassVar[bool] = False
    equal_steps: ClassVar[bool] = False
    steep: ClassVar[bool] = False
    turns: ClassVar[bool] = False  # acts on a revolute joint
    anywhere: ClassVar[bool] = False  # acts on any joint
    cuts_commands: ClassVar[bool] = False
    valves: ClassVar[tuple[str, ...]] = ()
    loop_rate: ClassVar[float] = 4.0  # knows nothing of the oil and the links it swings
    integral_rate: ClassVar[float] = 4.0 / 9.0
    pulse: float = 0.0
    vacuum: float | None = None
    pressure_limits: tuple = ()
    just_shut: float | None = None
    areas: tuple[float, float] = (0.0, 0.0)
    limit: float | None

    @abstractmethod
    def force(self, x, s, sdot, u, line): ...

    @abstractmethod
    def power_names(self, label: str) -> tuple[str, ...]: ...

    @abstractmethod
    def powers(self, x, s, sdot, u, line) -> list: ...

    def states(self, label: str) -> tuple[Signal, ...]:
        return ()

    def inputs(self, label: str) -> tuple[Signal, ...]:
        return ()

    def logged(self, label: str) -> tuple[Signal, ...]:
        return ()

    def shown(self, x, s, sdot, u, line) -> list:
        return []

    def sensed(self, label: str) -> tuple[Signal, ...]:
        return ()

    def sense(self, x, s) -> list:
        return []

    def initial(self, s: float, force: float, line) -> list:
        return []

    def rates(self, x, s, sdot, u, line) -> list:
        return []

    def flow(self, x, s, sdot, u, line):
        return 0.0

    def port(self, x, s, sdot, u, line, w):
        return line.p_r

    def behind(self, x, s, sdot, u) -> Behind | None:
        return None

    def metering(self, label: str):
        return None

    def notched(self, label: str) -> Notched | None:
        return None

    def stored(self, x, s):
        return 0.0

    def guards(self, x, s, sdot, u) -> list:
        return []

    def stiff(self, label: str) -> tuple[str, ...]:
        return ()

    def step_errors(self, label: str) -> tuple[float, ...]:
        return ()

    def edges(self, label: str) -> tuple[str, tuple[float, ...]]:
        return "", ()

    def limits(self, label: str) -> dict[str, tuple[float, float]]:
        if not self.limit:
            return {}
        return {self.inputs(label)[0].name: (-self.limit, self.limit)}

    @property
    def range(self) -> tuple[float, float]:
        return -inf, inf

    def bears(self, line) -> tuple[float, float]:
        return -inf, inf

    def bears_by(self, line) -> str:
        return "nothing"

    def pressures(self, label: str) -> tuple[str, ...]:
        return ()

    def machine_limits(self, label: str, key: str) -> tuple[Limit, ...]:
        return ()

    def sizes(self, line) -> Sizes | None:
        return None

    def velocity_gain_on(self, line):
        return None

    def check_pins(self, owner: str) -> None:
        return None


def outside_stroke(s: float, low: float, high: float, key: str = "closed") -> None:
    """InputError where the cylinder cannot have the length s [m] of the start."""
    if low <= s <= high:
        return
    raise InputError(
        f"the cylinder reaches from {low:.4g} m to {high:.4g} m, and the start is at s = {s:.4g} m "
        "(s: the distance of its pins, or the position of the joint it is on)",
        mend=f"start elsewhere, change {key}{_centred(s, low, high, key)} or the stroke, or move the pins{_units_hint(s, high)}",
    )


def _centred(s: float, low: float, high: float, key: str) -> str:
    """The value of `key` that puts the start into the middle of the stroke; "" where no cylinder is so short or units are wrong."""
    stroke = high - low
    value = s if key == "middle" else s - 0.5 * stroke
    if value < stroke or _units_hint(s, high):
        return ""
    return f" ({value:.4g} m puts the start into the middle of the stroke)"


def _units_hint(s: float, high: float) -> str:
    """What to say of a start so far off that its pins are in another unit than metres."""
    return "; lengths without a unit are in metres: write 1600 mm or 1.6" if s > 50 * high else ""


def too_short(owner: str, closed: float, stroke: float) -> None:
    """InputError where a cylinder between two pins is shorter, retracted, than its stroke."""
    if closed >= stroke:
        return
    raise InputError(
        f"{owner}.closed: retracted, the pins are {closed:.4g} m apart, less than the stroke, {stroke:.4g} m",
        mend="a cylinder is longer than its stroke: mend closed or cylinder.stroke",
    )


def spool_limit(label: str, signal: str, most: float, key: str) -> Limit:
    """Travel of a spool within ±most, V."""
    return Limit(
        name=f"spool of {label}",
        signals=(signal,),
        low=-most,
        high=most,
        unit="V",
        kind="valve",
        meaning="travel of the spool",
        key=key,
        bearable=True,
    )
