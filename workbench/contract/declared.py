"""Optional data of plants and laws, beyond `workbench.contract.system`, declared in one place.

Each has a default that means "none": an empty tuple, None, False; so that no plant or law is probed with `hasattr`. Optional
methods are Protocols of `workbench.contract.capabilities`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from workbench.contract.capabilities import HasValveAccount, Named

if TYPE_CHECKING:
    from workbench.contract.errors import InputError

Value = TypeVar("Value")


class Otherwise(Generic[Value]):
    """A member that an object may have, and its value on those that have none.

    The class itself has no such attribute. A dataclass below it can therefore declare a required field of that name,
    which a plain class attribute would turn into one with a default.
    """

    def __init__(self, default: Value):
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Value:
        if instance is None:
            raise AttributeError(f"{owner.__name__} has no default of {self.name!r} for its class")
        return self.default


class Notched(NamedTuple):
    """A cylinder or motor with two chambers behind one spool.

    command, spool, speed, force   the signals that log them; spool "": it is the command; force is A_a p_a − A_b p_b
    pressures                      signals of p_a and p_b
    oil, p_s, p_r                  what it is fed with: oil, supply (at its highest) and return pressure, Pa
    place                          the actuator's position → that of the piston or rotor
    """

    label: str
    chambers: Any
    command: str
    spool: str
    speed: str
    force: str
    pressures: tuple[str, ...] = ()
    oil: Any = None
    p_s: Any = None
    p_r: Any = None
    place: Callable = lambda s: s

    @property
    def position(self) -> str:
        """The signal of the actuator's position."""
        return self.speed.removeprefix("d")


class _Itself:
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            raise AttributeError(f"{owner.__name__} is a class: only its objects have a plant")
        return instance


class PlantData:
    """Data that a plant may have; a base of every `System`."""

    # ---- the loop that a system is
    plant = _Itself()  # of a closed loop, its plant; any other system is its own plant
    controller = Otherwise[Any](None)  # of a closed loop
    hosted = Otherwise[bool](False)  # of a closed loop whose law is called from Python

    # ---- actuators and joints, in the order of the commands
    labels = Otherwise[tuple[str, ...]](())  # of the actuators: what follows x_, p_a, … in names
    cylinders = Otherwise[tuple](())  # with valves, chambers and friction
    segments = Otherwise[tuple](())  # what each cylinder moves
    mechanism = Otherwise[Any](None)  # its bodies, joints, loops and drives
    axes = Otherwise[Mapping[str, Any]](MappingProxyType({}))  # rotations of its bodies' frames
    structures = Otherwise[tuple](())  # a crane's parallel–serial structures
    arms = Otherwise[tuple](())  # behind metering valves
    n = Otherwise[int](0)  # positions of a machine's joints among its states: `position_names`
    joint_names = Otherwise[tuple[str, ...]](())
    dependent = Otherwise[bool](False)  # positions fit together only where `misfit` is zero
    spaces = Otherwise[tuple[str, ...]](())  # in which `task` takes references
    strokes = Otherwise[Sequence](())  # (least, largest) length of what moves it, piston space, m
    spans = Otherwise[Mapping[str, tuple[float, float]]](MappingProxyType({}))  # of lengths, logged

    @property
    def friction_laws(self) -> tuple:
        """Friction of its cylinders, in their order."""
        return tuple(c.friction for c in self.cylinders)

    @property
    def has_tool(self) -> bool:
        """Whether its joints move a tool, which `tool(q)` places in the world."""
        return "cartesian" in self.spaces

    @property
    def followed_lengths(self: Any) -> Sequence[str]:
        """Lengths of its actuators that follow from a path of its joints, also where no path can be given in them."""
        return self.task_names("piston") if "piston" in self.spaces else ()

    @property
    def position_names(self: Any) -> tuple[str, ...]:
        """States that are positions of its joints: the first ones."""
        return tuple(s.name for s in self.states[: self.n])

    def positions(self: Any, x: Any) -> list:
        """The positions of its joints among its states x."""
        at = [s.name for s in self.states]
        return [x[at.index(name)] for name in self.position_names]

    def misfit(self, q: Any) -> list:
        """What is zero where positions q fit together, as many numbers as there are more of them than degrees of freedom."""
        return []

    def effort(self, t: Any, q: Any) -> float:
        """The largest share of what pump and valves give that joint positions q (n, N) at instants t (N,) ask for, 0: not known."""
        return 0.0

    # ---- supply
    p_s = Otherwise[Any](None)  # Pa, pressure of the supply, where it is one number
    p_r = Otherwise[Any](None)  # Pa, of the return line
    oil = Otherwise[Any](None)  # in its chambers, where it is the same in all
    machine = Otherwise[Any](None)  # of a machine on a pump: the machine alone
    supply_names = Otherwise[tuple[str, ...]](())  # supply pressures that are states
    lines = Otherwise[tuple[str, ...]](("",))  # from the pump
    vacuum = Otherwise["float | None"](None)  # Pa, below which the oil is not described
    pressure_limits = Otherwise[tuple](())  # (lowest, highest), Pa

    no_passivity = Otherwise[str]("")  # why its valves' incremental passivity cannot be claimed
    supply_range = Otherwise["tuple[float, float] | None"](None)  # Pa, that they never leave

    @property
    def vacua(self: Any) -> Mapping[str, float]:
        """Name of a chamber pressure → the pressure below which its oil is not described, Pa; empty where there is none."""
        if self.vacuum is None:
            return {}
        return dict.fromkeys(self.pressure_names, self.vacuum)

    @property
    def supplies(self) -> list:
        """Supply pressure of every cylinder, Pa."""
        return [self.p_s] * len(self.cylinders)

    @property
    def p_top(self) -> Any:
        """Highest pressure of its supply, Pa, where that is one number."""
        return self.p_s

    @property
    def notched(self) -> tuple[Notched, ...]:
        """Two chambers behind one spool, those it has; none without a supply, as behind metering valves."""
        if self.p_s is None:
            return ()
        return tuple(
            Notched(
                label=k,
                chambers=c,
                command=f"u_{k}",
                spool=f"u_s_{k}" if c.valve.lag != "ideal" else "",
                speed=f"dx_{k}",
                force=f"f_p{k}",
                pressures=(f"p_a{k}", f"p_b{k}"),
                oil=self.oil,
                p_s=p_s,
                p_r=self.p_r,
            )
            for k, c, p_s in zip(self.labels, self.cylinders, self.supplies)
        )

    @property
    def valves(self) -> Any:
        """What accounts for its metering valves and proves what their circuit can (`HasValveAccount`, …); None without such."""
        return self if isinstance(self, HasValveAccount) else None

    @property
    def drawn_as(self) -> Any:
        """The plant that it looks like, whose joints have the same names: itself, or the one whose bodies it drives."""
        return self

    # ---- what suits it
    # Points in joints, to both sides.
    demo_path = Otherwise["tuple[tuple[float, ...], ...] | None"](None)
    velocity_gain = Otherwise["float | None"](None)  # velocity of an actuator per unit of command
    velocity_gains = Otherwise[tuple[float, ...]](())  # one an actuator
    loop_rate = Otherwise[float](45.0)  # 1/s, of a position loop
    integral_rate = Otherwise["float | None"](None)  # 1/s, K_i/K_p; None: a ninth of `loop_rate`
    cuts_commands = Otherwise[bool](False)  # beyond their limits, without a word
    just_shut = Otherwise[Mapping[str, float]](MappingProxyType({}))  # commands without a slope
    adaptive = Otherwise[Any](None)  # `workbench.numerics.adaptive.Adaptive`
    fixed = Otherwise[Any](None)  # `workbench.numerics.adaptive.Fixed`
    integrator = Otherwise[Any](None)  # its own
    on_floats = Otherwise[bool](False)  # its text is Python on floats, and has no graph
    stepper = Otherwise[Any](None)  # of such a plant: what advances it at the pace of a run
    no_other_starts = Otherwise[str]("")  # why it cannot begin elsewhere, in words
    not_asked = Otherwise[tuple](())  # (claim, why) of what this plant cannot be asked by default
    longest_step = Otherwise["float | None"](None)  # s, that its integration bears
    # s, that it takes by itself: no step of a run is shorter.
    own_step = Otherwise["float | None"](None)
    in_words = Otherwise[str]("")  # how it is assembled
    linear_twin = Otherwise[str]("")  # shipped machine that is linear and like it

    @property
    def title(self) -> str:
        """What messages call it: its name, else what it is."""
        return self.name if isinstance(self, Named) else type(self).__name__


UNKNOWN = PlantData()  # a plant of which nothing is known


class LawData:
    """What a law may have beside its equations; a base of every `Controller` and of laws called from Python."""

    inner = Otherwise[Any](None)  # of a wrapper, the law or wrapper inside it
    model = Otherwise[Any](None)  # what it takes the plant to be
    period = Otherwise["float | None"](None)  # s, of a sampled law
    open = False  # True: controls it does not command are the scenario's
    supplies = Otherwise[tuple[str, ...]](())  # signals of supply pressure that it is told
    waits = Otherwise[bool](False)  # for a pump that is late
    damped_by = Otherwise[str]("")  # its setting that would damp the plant, where it is not used
    misplaced = Otherwise[str]("")  # which of its measurements belong to other commands, in words
    ahead = Otherwise[int](0)  # samples of the reference that it sees in advance
    follows = Otherwise[tuple](())  # outputs that a predictive law tracks
    limits = Otherwise[tuple](())  # of outputs, which a predictive law keeps
    u_max = Otherwise[Any](None)  # its own limit of every command, either way
    x_0 = Otherwise[tuple](())  # states that it is linear around
    # Of its memory, what is ≤ 0 as long as its expressions are those of the law that they stand for.
    conditions = Otherwise[tuple[str, ...]](())
    searched = Otherwise[tuple[str, ...]](())  # fields that a search by runs may turn
    not_asked = Otherwise[tuple](())  # (claim, why) of what this law cannot be asked by default

    @staticmethod
    def suited(plant: Any) -> dict[str, Any]:
        """Settings that suit this plant, where they are not the law's own defaults."""
        return {}

    @staticmethod
    def unfit(model: Any) -> InputError | None:
        """Why the law cannot be built for the model; None where it can."""
        return None

    @classmethod
    def units_on(cls, model: Any = None, signals: Sequence[str] = ()) -> dict[str, str]:
        """Units of the numbers that follow the plant's signals: field → unit."""
        return {}

    @staticmethod
    def tunings() -> dict[str, type]:
        """Ways of finding its gains: name → options."""
        return {}

    @classmethod
    def design(cls, model: Any, **values: Any) -> Any:
        """The law for a model: built from its numbers, where nothing is to be solved for."""
        return cls(model=model, **values)  # type: ignore[call-arg]
