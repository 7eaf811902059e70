"""A plant, or a loop, as C99: its functions one operation a line, and around them the integrator that runs are made with.

The integrator is the text of workbench/numerics/driver.c itself, or of stiff.c, so a step is that of `simulate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca

from workbench.contract.parameters import Leaf
from workbench.contract.system import Signal
from workbench.interop.export.c_text import array_struct, comment, struct
from workbench.interop.export.identifiers import identifiers
from workbench.interop.export.languages import DOUBLE, statements
from workbench.interop.export.law_graph import short
from workbench.interop.export.straight import Straight, most_counted, straight
from workbench.interop.export.system_graph import SystemGraph
from workbench.numerics.c_code import NUMBERS, own_text

INNER = "static int {0}(const real **arg, real **res, casadi_int *iw, real *w, int mem)"
UNUSED = "(void)arg; (void)res; (void)iw; (void)w; (void)mem;"
_LANES = """\
static void run_lanes(long, long *, long, int, double, long, double, long, double, real *, const real *, const real *, const real *,
                      real *, real *);
"""
_OWN = """\
typedef long long int casadi_int;
static long run(long, long, long, int, double, long, double, long, double, real *, const real *, const real *, const real *, real *,
                real *);
static void measure(real, const real *, const real *, const real *, real *, real *);
static void begin(real, const real *, const real *, const real *, real *, real *);
"""
_CALLS = """\
/* One sample from *x on, with inputs w and, where they change within it, F. */
static int sample(const {n}_constants *k, const {n}_inputs *in, const real *F, {n}_state *x)
{{
  const long count = lround(in->t / {N}_SAMPLE_TIME);
  real nothing[1];
  const long made = run(count, 1, 1, {jumps}, {N}_SAMPLE_TIME, {n1}, {h1}, {n2}, {h2}, (real *)x, (const real *)in + 1, F, k->c, 0,
                        nothing);
  return made == 1 && finite_all((const real *)x, NX);
}}

int {n}_step(const {n}_constants *k, const {n}_inputs *in, {n}_state *x)
{{
#if WSTRIDE > 0
  real held[{N}_STAGES * NW];
  for (int i = 0; i < {N}_STAGES * NW; ++i) held[i] = ((const real *)in)[1 + i % NW];
  return sample(k, in, held, x);
#else
  return sample(k, in, 0, x);
#endif
}}
{along}
void {n}_start(const {n}_constants *k, const {n}_inputs *in, {n}_state *x)
{{
  real begun[NX];
  const real *c = k->c, *arg[4] = {{&in->t, (const real *)x, (const real *)in + 1, c}};
  real *res[1] = {{begun}};
  (void)measure, (void)begin; /* of the integrator's text, not called here */
  start(arg, res, 0, 0, 0);
  for (int i = 0; i < NX; ++i) ((real *)x)[i] = begun[i];
}}

void {n}_measure(const {n}_constants *k, const {n}_inputs *in, const {n}_state *x, {n}_outputs *y)
{{
  const real *c = k->c, *arg[4] = {{&in->t, (const real *)x, (const real *)in + 1, c}};
  real *res[1] = {{(real *)y}};
  outcome(arg, res, 0, 0, 0);
}}
"""
_ALONG = """
int {n}_step_along(const {n}_constants *k, const {n}_inputs *in, const double *stages, {n}_state *x)
{{
  return sample(k, in, stages, x);
}}
"""
_DECLARED = """\
/* The numbers that the verdicts are of, and their digest. */
extern const char {n}_digest[];
extern const {n}_parameters {n}_default_parameters;
extern const {n}_constants {n}_default_constants;

/* Where the verified run begins, and its inputs there. */
extern const {n}_state {n}_initial_state;
extern const {n}_inputs {n}_initial_inputs;

/* Constants of other parameters. Verdicts were given for the default ones alone. */
void {n}_prepare(const {n}_parameters *p, {n}_constants *k);

/* {begins} */
void {n}_start(const {n}_constants *k, const {n}_inputs *in, {n}_state *x);

/* One sample: x at in->t, a whole number of samples, becomes that at the next one. Inputs are held. 0 where x left the numbers. */
int {n}_step(const {n}_constants *k, const {n}_inputs *in, {n}_state *x);
{along}
/* Outputs at an instant. */
void {n}_measure(const {n}_constants *k, const {n}_inputs *in, const {n}_state *x, {n}_outputs *y);"""
_DECLARED_ALONG = """
/* The same with inputs that change within the sample: {N}_STAGES rows of them without t, at the beginning, middle and end of each
 * step of the integrator. */
int {n}_step_along(const {n}_constants *k, const {n}_inputs *in, const double *stages, {n}_state *x);
"""
_BEGINS = {
    "plant": "Nothing is done to a plant alone; there for the same calls as of a loop.",
    "loop": "Memory of the law that fits the first measurement; call it once before the first step.",
}


@dataclass(frozen=True, eq=False)
class SystemText:
    """The files' text. name: what every identifier begins with; digest: of the numbers; inputs: at the first sample."""

    graph: SystemGraph
    name: str
    inputs: Sequence[float]
    about: Sequence[str] = field(default=())
    digest: str = ""

    @cached_property
    def words(self) -> dict[str, list[str]]:
        """What a struct holds → the identifiers of its members, in order."""
        graph = self.graph
        return {
            "parameters": identifiers([_path(leaf) for leaf in graph.parameters]),
            "state": identifiers([s.name for s in graph.states]),
            "inputs": identifiers(["t", *(s.name for s in graph.inputs)]),
            "outputs": identifiers([s.name for s in graph.outputs]),
        }

    @cached_property
    def programs(self) -> dict[str, Straight]:
        """Name of an inner function → its operations."""
        functions, _ = self.graph.functions
        return {f.name(): straight(_scalar(f)) for f in (*functions, self.graph.outcome)}

    @property
    def operations(self) -> int:
        """Operations of one evaluation of the flow."""
        return most_counted([self.programs["flow"]])

    def header(self) -> str:
        """The header: structs with units, constants, functions."""
        n, g = self.name, self.graph
        N = n.upper()
        given = [Signal("t", "s", "time since the start"), *g.inputs]
        parameters = [Signal(p.path, p.info.unit, p.info.meaning) for p in g.parameters]
        structs = [
            struct(n, "parameters", "double", parameters, self.words),
            array_struct(n, "constants", "double", len(g.constants)),
            struct(n, "state", "double", g.states, self.words),
            struct(n, "inputs", "double", given, self.words),
            struct(n, "outputs", "double", g.outputs, self.words),
        ]
        along = _DECLARED_ALONG.format(n=n, N=N) if g.driven else ""
        at_least = ", at least" if g.settings.size else ""
        return "\n".join(
            [
                *comment(self.about),
                f"#ifndef {N}_H",
                f"#define {N}_H",
                "",
                "#ifdef __cplusplus",
                'extern "C" {',
                "#endif",
                "",
                f"#define {N}_SAMPLE_TIME {DOUBLE.number(g.sample_time)} /* s */",
                f"#define {N}_STEPS {g.grid.n1 + g.grid.n2} /* of the integrator in a sample{at_least} */",
                f"#define {N}_STAGES {g.stages} /* of these steps */",
                f"#define {N}_OPERATIONS {self.operations} /* of the flow, of which a step takes {g.evaluations} */",
                f'#define {N}_DIGEST "{self.digest}"',
                "",
                *(line for members in structs for line in (*members, "")),
                _DECLARED.format(n=n, begins=_BEGINS[g.part], along=along),
                "",
                "#ifdef __cplusplus",
                "}",
                "#endif",
                f"#endif /* {N}_H */",
                "",
            ]
        )

    def source(self) -> str:
        """The source: numbers, the graph's functions, the integrator, the calls."""
        n, g = self.name, self.graph
        _, sizes = g.functions
        steps = {
            "jumps": int(g.part == "loop"),
            "n1": g.grid.n1,
            "h1": repr(float(g.grid.h1)),
            "n2": g.grid.n2,
            "h2": repr(float(g.grid.h2)),
        }
        along = _ALONG.format(n=n) if g.driven else ""
        return "\n".join(
            [
                *self._numbers(),
                *self._prepare(),
                "",
                *(f"#define {name} {value}" for name, value in {**sizes, "LANES": 1}.items()),
                NUMBERS,
                _OWN,
                *([] if g.stiff else [_LANES]),
                *(line for name in self.programs for line in self._inner(name)),
                own_text(g.method.around),
                _CALLS.format(n=n, N=n.upper(), along=along, **steps),
            ]
        )

    def _numbers(self) -> list[str]:
        n, g = self.name, self.graph
        return [
            f'#include "{n}.h"',
            "",
            "#include <math.h>",
            "",
            "/* Rounding is part of the steps: no product and sum in one, no other order (GCC: -ffp-contract=off). */",
            "#if !defined(__GNUC__) || defined(__clang__)",
            "#pragma STDC FP_CONTRACT OFF",
            "#endif",
            "",
            f"const char {n}_digest[] = {n.upper()}_DIGEST;",
            f"const {n}_parameters {n}_default_parameters = {{{_told(g.values)}}};",
            f"const {n}_constants {n}_default_constants = {{{{{_told(g.constants)}}}}};",
            f"const {n}_state {n}_initial_state = {{{_told(g.start)}}};",
            f"const {n}_inputs {n}_initial_inputs = {{0.0, {_told(self.inputs)}}};",
            "",
        ]

    def _prepare(self) -> list[str]:
        n = self.name
        program = straight(self.graph.traced.prelude)
        words = self.words["parameters"]
        known = len(self.graph.constants) - len(self.graph.settings)
        places = [[f"k->c[{i}]" for i in range(known)]]
        body = statements(program, DOUBLE, lambda argument, place: f"p->{words[place]}", places)
        head = f"void {n}_prepare(const {n}_parameters *p, {n}_constants *k)"
        told = [f"k->c[{i}] = {_number(v)};" for i, v in enumerate(self.graph.settings, known)]
        return [head, "{", "  (void)p; (void)k;", *(f"  {line}" for line in (*body, *told)), "}"]

    def _inner(self, name: str) -> list[str]:
        """A function of the graph as driver.c calls it."""
        program = self.programs[name]
        written = [o.operands for o in program.operations if o.target is None]
        size = lambda r: max((place for result, place, _ in written if result == r), default=-1) + 1
        most = max((result for result, _, _ in written), default=-1) + 1
        results = [[f"res[{r}][{i}]" for i in range(size(r))] for r in range(most)]
        reads = lambda argument, place: f"arg[{argument}][{place}]"
        body = statements(program, DOUBLE, reads, results)
        return [
            INNER.format(name),
            "{",
            f"  {UNUSED}",
            *(f"  {line}" for line in body),
            "  return 0;",
            "}",
            "",
        ]


def _told(values: Iterable[float]) -> str:
    return ", ".join(map(_number, values)) or "0"


def _number(value: float) -> str:
    return DOUBLE.number(float(value))


def _path(leaf: Leaf) -> str:
    return short(leaf.path)


def _scalar(f: ca.Function) -> ca.Function:
    """The function as scalar operations: those of large matrices are products of matrices first."""
    return f if f.is_a("SXFunction") else f.expand()
