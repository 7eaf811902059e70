"""An FMU as a plant.

    model exchange   ẋ = f(t, x, u), y = g(t, x, u): x is ours, f and g are asked of the FMU, see `stepping`
    co-simulation    the FMU keeps its state to itself and is stepped; what is seen of it are outputs and the states it declares

Inputs are held from sample to sample. Outputs that follow inputs directly are measured with the command of the sample before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Signal, System
from workbench.contract.trust import trusted
from workbench.interop.fmu.description import Description
from workbench.interop.fmu.link import WHAT, check_installed, short_name
from workbench.interop.fmu.model import Model, Setting, model_of
from workbench.interop.fmu.running import FmuLoop, Pure
from workbench.interop.fmu.tangent import exact, linearised
from workbench.interop.fmu.wires import Connect
from workbench.numerics.calculus import symbolic
from workbench.numerics.linearisation import Linearisation
from workbench.numerics.on_floats import FloatLoop, Text

NO_EQUATIONS = (
    "an FMU's equations are not known, only their values: nothing can be proven with them"
)

NO_ENERGIES = "an FMU states neither energies nor an accompanying function"
HIDDEN = "co-simulation keeps the plant's state to itself"
NEVER = (
    *((key, NO_ENERGIES) for key in ("identity", "power-flows", "inequality", "energy-balance")),
    *((key, NO_EQUATIONS) for key in ("region-of-attraction", "sector", "robust-stability")),
)
MOST_NAMED = 4  # variables that could be states
OWN = r"\W+"  # what no signal's name has
NO_STARTS = (
    "by co-simulation the FMU declares no state whose start value can be set; where its outputs or other variables can begin"
    " elsewhere, name them in connect: {states: …}"
)
TO_LINEARISE = (
    "it is asked near a point that you choose: state `linear-stability: true`, or with {at: …}"
)


@final
@dataclass(frozen=True)
class FMU(System):
    """A plant of another tool, as a Functional Mock-up Unit of FMI 2 or 3. It is foreign code and runs in a process of its own.

    file         the FMU
    trust        True says that you trust whoever made it, as does `with fp.trusting():`; without it nothing is loaded
    connect      which of its variables are which signals (`Connect`, or a mapping of its fields)
    parameters   name of a parameter → number in SI, or "250 kg"
    start        name of a variable → its start value, likewise
    ranges       name of an input of ours → (least, largest) command; where it is left out, the FMU's own min and max
    interface    "model-exchange" or "co-simulation"; None: model exchange where the FMU offers it, as more can be asked then
    time_limit   s that one answer of it may take

    Raises InputError for an FMU that is not trusted, cannot be read, has no binary for this machine, and for wrong names.
    """

    file: str
    trust: bool = field(default=False, repr=False)
    connect: Any = Connect()
    parameters: Any = ()
    start: Any = ()
    ranges: Any = ()
    interface: str | None = None
    time_limit: float = 10.0
    digest: str = field(init=False, default="", repr=False)
    on_floats = True
    no_derivative = NO_EQUATIONS

    def __post_init__(self) -> None:
        put = lambda name, value: object.__setattr__(self, name, value)
        if not self.trust:
            _check_trust(str(self.file))
        check_installed()
        put("file", str(self.file))
        if not isinstance(self.connect, Connect):
            put("connect", Connect(**self.connect))
        if not self.time_limit > 0:
            raise InputError("time_limit: expected a time above zero", mend="write 10 s")
        put("digest", model_of(self.file, self.connect, self.interface).digest)
        model = self.model
        for name in ("parameters", "start"):
            put(name, tuple(sorted(model.settings(name, getattr(self, name)), key=_called)))
        put("ranges", model.ranges(self.ranges))

    @property
    def model(self) -> Model:
        """The FMU as it is wired."""
        return model_of(self.file, self.connect, self.interface, self.digest)

    @property
    def name(self) -> str:
        return short_name(self.file)

    @property
    def exchange(self) -> bool:
        """Whether it is run by model exchange."""
        return self.model.exchange

    @property
    def states(self) -> tuple[Signal, ...]:
        return tuple(wire.signal for wire in self.model.wires.states)

    @property
    def inputs(self) -> tuple[Signal, ...]:
        return tuple(wire.signal for wire in self.model.wires.inputs)

    @property
    def outputs(self) -> tuple[Signal, ...]:
        return tuple(wire.signal for wire in self.model.wires.outputs)

    @property
    def monitors(self) -> tuple[Signal, ...]:
        return self.outputs

    def defaults(self) -> Mapping[str, float]:
        """The start values of its inputs."""
        given = {s.name: s.value for s in self.start}
        wires = self.model.wires.inputs
        return {w.name: given.get(w.variable.name, w.variable.started) for w in wires}

    def limits(self) -> Mapping[str, tuple[float, float]]:
        return {name: (low, high) for name, low, high in self.ranges}

    def initial(self) -> Sequence[float]:
        return _initial(self)

    @property
    def pure(self) -> Pure:
        """The equations of an FMU for model exchange, as functions."""
        return _pure(self)

    @property
    def no_other_starts(self) -> str:
        """Of co-simulation: why it cannot begin elsewhere."""
        return "" if self.exchange or self.model.wires.states else _no_starts(self.model.about)

    @property
    def own_step(self) -> float | None:
        """Of co-simulation: the step that it takes by itself, s, where it states one."""
        return None if self.exchange else self.model.interface.every

    @property
    def not_asked(self) -> tuple[tuple[str, str], ...]:
        """Claims that a loop on it is not asked by default, and why."""
        return (("linear-stability", TO_LINEARISE if self.exchange else HIDDEN), *NEVER)

    def rhs(self, t: Scalar, x: Vector, u: Vector) -> list:
        _check_floats(self, t, x, u)
        self._check_flow()
        return self.pure.flow(t, x, u)[: len(x)].tolist()

    def out(self, t: Scalar, x: Vector) -> list:
        return self.monitor(t, x, [self.defaults()[s.name] for s in self.inputs])

    def monitor(self, t: Scalar, x: Vector, u: Vector) -> list:
        _check_floats(self, t, x, u)
        if t == 0.0 and not self.exchange:
            return list(_at_start(self, tuple(map(float, x)), tuple(map(float, u))))
        self._check_flow()
        return self.pure.flow(t, x, u)[len(x) :].tolist()

    @property
    def derivatives(self) -> tuple[str, str]:
        """Strength of what rests on its derivatives, and where they come from."""
        if exact(self):
            return "numerical", f"directional derivatives of {self.name}"
        return "sampled", f"differences of {self.name}, which provides no derivatives"

    def linearised(self, x: Vector, u: Vector, inputs: Sequence[str]) -> Linearisation:
        """Its linearisation near (x, u), see `tangent`."""
        return linearised(self, x, u, inputs)

    def _check_flow(self) -> None:
        """InputError where there is no flow."""
        if not self.exchange:
            raise InputError(
                f"{self.name} is run by co-simulation and keeps its state to itself: it has no flow that could be asked",
                mend="run it by interface: model-exchange, where it offers that",
            )

    @property
    def integrator(self) -> Any:
        """The integrator, of co-simulation: the FMU steps itself."""
        return None if self.exchange else _stepped

    @property
    def stepper(self) -> Any:
        """The integrator, of model exchange: our steps, computed in the FMU's process."""
        return _advanced if self.exchange else None


def _check_trust(file: str) -> None:
    """InputError for an FMU that nobody has said to trust."""
    try:
        trusted(file, WHAT, "trust")
    except InputError as why:
        raise InputError(why.message, mend=f"{why.mend}, or trust=True in fp.FMU") from None


def _check_floats(plant: FMU, t: Scalar, x: Vector, u: Vector) -> None:
    """InputError for expressions: only numbers can be given to it."""
    if symbolic([t, *x, *u]):
        raise InputError(
            f"{plant.name}: {NO_EQUATIONS}",
            mend="write its equations as a System, or ask what runs can show",
        )


def _called(setting: Setting) -> str:
    return setting.name


def _stepped(system: Any, traced: Any, compiled: bool | None) -> tuple[FmuLoop, np.ndarray]:
    if system is not system.plant:
        raise _inside(system.plant, "is run by co-simulation")
    return FmuLoop(traced, system), np.zeros(0)


def _advanced(system: Any, traced: Text) -> FmuLoop | FloatLoop:
    """A plant alone, or under a sampled law, is advanced where the FMU is; a continuous law needs its flow as a function."""
    if system is system.plant:
        return FmuLoop(traced, system)
    if system.plant.pure.switches:
        raise _inside(system.plant, "has events")
    return FloatLoop(traced)


def _inside(plant: FMU, why: str) -> InputError:
    return InputError(
        f"{plant.name} {why}, and the law is continuous: it would have to act inside the FMU's steps",
        mend="give the loop a sample_time (Sampled)",
    )


@lru_cache(maxsize=32)
def _initial(plant: FMU) -> tuple[float, ...]:
    return tuple(plant.pure.begun.tolist())


@lru_cache(maxsize=64)
def _at_start(plant: FMU, x: tuple[float, ...], u: tuple[float, ...]) -> tuple[float, ...]:
    """Outputs of a run that begins with these states and inputs."""
    return tuple(plant.pure.outputs_at_start(x, u).tolist())


@lru_cache(maxsize=8)
def _pure(plant: FMU) -> Pure:
    return Pure(plant)


def _no_starts(about: Description) -> str:
    """Why a plant of co-simulation cannot begin elsewhere, and which variables may let it."""
    moving = [
        v.name
        for v in about.variables.values()
        if v.settable and v.real and v.variability == "continuous" and v.causality != "input"
    ]
    if not moving:
        return NO_STARTS
    such = ", ".join(f"{re.sub(OWN, '_', name)}: {name}" for name in moving[:MOST_NAMED])
    return f"{NO_STARTS} (here {{{such}{', …' if len(moving) > MOST_NAMED else ''}}})"
