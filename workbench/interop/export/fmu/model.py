"""What an FMU is of: the exported C, its variables in order of their value references, and the glue between both."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.contract.errors import InputError
from workbench.contract.parameters import Leaf
from workbench.contract.system import Signal
from workbench.interop.export.c_text import CText
from workbench.interop.export.languages import DOUBLE
from workbench.interop.export.laws import Graph
from workbench.interop.export.replay import Replay
from workbench.interop.export.solver_text import SolverText
from workbench.interop.export.system_package import system_code
from workbench.interop.export.system_run import SystemRun
from workbench.interop.export.system_text import SystemText

_LAYOUT = """\
/* What the model is, for instance.h: counts of its numbers, and its functions on rows of them. */
#include <string.h>

#include "{n}.h"

#define MODEL_TOKEN "{token}"
#define SAMPLE_TIME {period} /* s */
#define INPUTS {inputs} /* with the time */
#define OUTPUTS {outputs}
#define STATES {states}
#define SETTABLE {settable} /* of the states, before the first step */
#define PARAMETERS {parameters}
#define CONSTANTS {constants}

static void model_defaults(double *in, double *x, double *p)
{{
  static const double inputs[INPUTS] = {{{given}}};
  static const double states[STATES + 1] = {{{begun}}};
  static const double parameters[PARAMETERS + 1] = {{{values}}};
  memcpy(in, inputs, INPUTS * sizeof *in);
  memcpy(x, states, STATES * sizeof *x);
  memcpy(p, parameters, PARAMETERS * sizeof *p);
}}

static void model_prepare(const double *p, double *c)
{{
  {prepare}
}}

static void model_start(const double *c, const double *in, double *x)
{{
  {n}_start((const {n}_constants *)c, (const {n}_inputs *)in, ({n}_{memory} *)x);
}}
"""
_PREPARE = "{n}_prepare((const {n}_parameters *)p, ({n}_constants *)c);"
_PREPARED = "(void)p, memcpy(c, &{n}_default_constants, sizeof {n}_default_constants);"
_LAW = """
static int model_step(const double *c, const double *in, double *x, double *y)
{{
  {n}_step((const {n}_constants *)c, (const {n}_inputs *)in, ({n}_memory *)x, ({n}_outputs *)y);
  return 1;
}}

/* Commands stay as they are until the next sample. */
static void model_outputs(const double *c, const double *in, const double *x, double *y)
{{
  (void)c, (void)in, (void)x, (void)y;
}}
"""
_SYSTEM = """
static int model_step(const double *c, const double *in, double *x, double *y)
{{
  (void)y;
  return {n}_step((const {n}_constants *)c, (const {n}_inputs *)in, ({n}_state *)x);
}}

static void model_outputs(const double *c, const double *in, const double *x, double *y)
{{
  {n}_measure((const {n}_constants *)c, (const {n}_inputs *)in, (const {n}_state *)x, ({n}_outputs *)y);
}}
"""


@dataclass(frozen=True)
class Variable:
    """A variable of an FMU in the words of the standard; `start` is None where the model works it out."""

    name: str
    unit: str
    meaning: str
    causality: str
    variability: str
    start: float | None = None


@dataclass(frozen=True)
class Model:
    """A model ready to be packed.

    part       controller, plant or loop
    length     s, of the run that was verified
    code       files of C by name, the source first
    variables  in order of their value references: time, inputs, outputs, states, parameters
    begun      states before the first sample
    constants  how many numbers follow from the parameters
    prepared   whether they do not: the constants are those of the code, and there are no parameters
    """

    name: str
    part: str
    sample_time: float
    length: float
    code: dict[str, str]
    variables: tuple[Variable, ...]
    begun: tuple[float, ...]
    constants: int
    prepared: bool = False

    @property
    def token(self) -> str:
        """What tells this code, and these variables, from all others."""
        return hashlib.sha256(f"{self.code}{self.variables}".encode()).hexdigest()[:32]

    def of(self, causality: str) -> list[Variable]:
        """The variables of a causality, in order."""
        return [v for v in self.variables if v.causality == causality]

    @property
    def sources(self) -> list[str]:
        """What is compiled, without the interface's own file."""
        return units_of(self.code)

    def layout(self) -> str:
        """The text of layout.h."""
        law = self.part == "controller"
        states = self.of("local")
        head = _LAYOUT.format(
            n=self.name,
            token=self.token,
            period=DOUBLE.number(self.sample_time),
            inputs=1 + len(self.of("input")),
            outputs=len(self.of("output")),
            states=len(states),
            settable=sum(v.start is not None for v in states),
            parameters=len(self.of("parameter")),
            constants=self.constants,
            given=_numbers([0.0, *(v.start or 0.0 for v in self.of("input"))]),
            begun=_numbers(self.begun),
            values=_numbers([v.start or 0.0 for v in self.of("parameter")]),
            memory="memory" if law else "state",
            prepare=(_PREPARED if self.prepared else _PREPARE).format(n=self.name),
        )
        return head + (_LAW if law else _SYSTEM).format(n=self.name)


def units_of(sources: Mapping[str, str]) -> list[str]:
    """What is compiled of these; files in folders are included by others."""
    return [name for name in sources if name.endswith(".c") and "/" not in name]


def check_law(graph: Graph, single: bool) -> None:
    """InputError for a law that an FMU cannot hold: one with floats, and one that is applied between samples."""
    if single:
        raise InputError("an FMU has doubles", key="--float", mend="leave --float out")
    if graph.controller.lag:
        raise InputError(
            f"the law is applied {graph.controller.lag:g} s after its sample, and an FMU of it goes from sample to sample",
            key="loop.delay",
            mend="give --part loop, or leave the delay out",
        )


def law_model(text: CText | SolverText, run: Replay) -> Model:
    """The law as a model: it takes its inputs at the beginning of a sample, and its outputs are the commands from then on.

    Raises InputError for a law that an FMU cannot hold.
    """
    graph = text.graph
    check_law(graph, text.single)
    variables = [
        *_inputs((*graph.measured, *graph.references), run.inputs[0, 1:]),
        *(_variable(s, "output", "discrete") for s in graph.commands),
        *(_variable(s, "local", "discrete") for s in graph.memory),
        *_parameters(graph.parameters),
    ]
    return Model(
        name=text.name,
        part="controller",
        sample_time=float(graph.controller.period or 0.0),
        length=float(run.t[-1]),
        code={f"{text.name}.c": text.source(), f"{text.name}.h": text.header(), **text.beside},
        variables=_named(variables),
        begun=tuple(float(v) for v in graph.initial),
        constants=len(graph.constants),
        prepared=text.prepared,
    )


def system_model(text: SystemText, run: SystemRun) -> Model:
    """The plant, or the loop, as a model: inputs are held from sample to sample."""
    graph = text.graph
    measured = len(graph.system.outputs)
    moving = graph.moving
    variables = [
        *_inputs(graph.inputs, run.inputs[0]),
        *(_variable(s, "output", "continuous") for s in graph.outputs[:measured]),
        *(_variable(s, "output", "discrete") for s in graph.outputs[measured:]),
        *(
            _variable(s, "local", "continuous", float(v))
            for s, v in zip(graph.states[:moving], graph.start)
        ),
        *(_variable(s, "local", "discrete") for s in graph.states[moving:]),
        *_parameters(graph.parameters),
    ]
    return Model(
        name=text.name,
        part=graph.part,
        sample_time=graph.sample_time,
        length=float(run.t[-1]),
        code=dict(reversed(system_code(text).items())),
        variables=_named(variables),
        begun=tuple(float(v) for v in graph.start),
        constants=len(graph.constants),
    )


def _variable(s: Signal, causality: str, variability: str, start: float | None = None) -> Variable:
    return Variable(s.name, s.unit, s.meaning, causality, variability, start)


def _inputs(signals: Sequence[Signal], first: Iterable[float]) -> list[Variable]:
    return [_variable(s, "input", "continuous", float(v)) for s, v in zip(signals, first)]


def _parameters(parameters: Sequence[Leaf]) -> list[Variable]:
    return [
        Variable(p.path, p.info.unit, p.info.meaning, "parameter", "fixed", float(p.value))
        for p in parameters
    ]


def _named(variables: Sequence[Variable]) -> tuple[Variable, ...]:
    """The time, then the variables; states are state.NAME, and of two with one name the later says what it is, too."""
    found = {"time": Variable("time", "s", "", "independent", "continuous")}
    for v in variables:
        name = f"state.{v.name}" if v.causality == "local" else v.name
        name = f"{v.causality}.{v.name}" if name in found else name
        found[name] = Variable(name, v.unit, v.meaning, v.causality, v.variability, v.start)
    return tuple(found.values())


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(DOUBLE.number(float(v)) for v in values) or "0"
