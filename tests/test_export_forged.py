"""Faults planted in the exported code of VDC and MPC: refused by hashes and by the run; where all was forged, by check and claims.

Three who change the code: one leaves its hash, one makes the hash fit, one makes hashes, digest and the run in the folder fit. The
last one is seen by the check, which has the run of the law itself, and by the claims, which are asked of what the code does.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from forging import constant, exchanged, forged, in_step, of_step, planted

from workbench import ClosedLoop, InputError
from workbench.cases.file import load
from workbench.interop.export.checking import against_run
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.laws import graph_of, run_of
from workbench.interop.export.package import export_law
from workbench.verification.judge import verify
from workbench.verification.observed.requirement_claims import Requirement

EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True, eq=False)
class Law:
    """An example's law: how long its run is, s, and the claim that the sound loop meets there."""

    example: str
    duration: float
    claim: Requirement
    marks: tuple = ()


CRANE = Law(
    "hiab-xs031-two-joint",
    1.0,
    Requirement("always[0.5 s, end] (tool_error < 4 mm)"),
    (pytest.mark.long,),
)
BOOM = Law("two-cylinders", 0.4, Requirement("always[0.1 s, end] (tool_error < 1 mm)"))
MPC = Law(
    "ieha-mpc", 0.6, Requirement("always[0.2 s, end] (tool_error < 20 µm)"), (pytest.mark.long,)
)


def without(line):
    return lambda code: code.replace(line, "", 1)


TAKEN = "  seen(k, in, z, given);\n"
CROSSED = f"""{TAKEN}  const double measured = given[0];
  given[0] = given[Y];
  given[Y] = measured;
"""
VELOCITY_ERROR = in_step(r"(in->(\w+)_d) - (in->\2;)", r"\1 + \3")
FAULTS = {
    CRANE: {
        "sign": VELOCITY_ERROR,
        "constant": constant("8.0", "2.0"),
        "memory": in_step(r"  z->z_1_observed = v\d+;\n", ""),
        "inputs": exchanged("p_a1", "p_b1"),
    },
    BOOM: {"sign": VELOCITY_ERROR, "inputs": exchanged("q_boom", "q_arm")},
    MPC: {
        "sign": lambda code: code.replace("x[i] += dot(k->L", "x[i] -= dot(k->L", 1),
        "constant": constant("0.0005", "0.00025"),
        "memory": without("  for (int i = 0; i < U; ++i) before[i] = u[i];\n"),
        "inputs": of_step(lambda step: step.replace(TAKEN, CROSSED, 1)),
    },
}


@pytest.fixture(
    scope="module", params=[pytest.param(law, marks=law.marks, id=law.example) for law in FAULTS]
)
def made(request, tmp_path_factory):
    """(which law, its case, its run, its folder)."""
    law = request.param
    case = load(EXAMPLES / f"{law.example}.yaml")
    case = replace(case, scenario=replace(case.scenario, duration=law.duration))
    graph = graph_of(case.loop.controller)
    run = run_of(case.loop, case.scenario, graph)
    return law, case, run, export_law(tmp_path_factory.mktemp("forged") / "law", graph, run)


def asked(law, case, code):
    """The claim's verdict on the loop with this code as its law."""
    (verdict,) = verify(ClosedLoop(case.loop.plant, code), case.scenario, [law.claim])
    return verdict


def test_the_sound_code_is_taken_and_keeps_its_claim(made):
    law, case, run, folder = made
    code = Compiled(folder)
    assert code.unshown == "" and against_run(code, run).well
    assert asked(law, case, code).holds is True


def test_a_fault_in_the_code_is_refused(made, tmp_path):
    """By the hash of the file; with a hash that fits by the digest of the numbers, where it changes one, else by the run."""
    law, _, _, folder = made
    for fault, change in FAULTS[law].items():
        copy = planted(folder, tmp_path / fault, "law.c", change)
        words = (
            "numbers in the library are not those" if fault == "constant" else "does not do what"
        )
        with pytest.raises(InputError, match=words):
            Compiled(copy)
        (copy / "law.json").write_text((folder / "law.json").read_text())
        with pytest.raises(InputError, match="law.c was changed after it was exported"):
            Compiled(copy)


def test_what_is_forged_to_the_last_hash_is_refused_by_check_and_claims(made, tmp_path):
    law, case, run, folder = made
    digest = Compiled(folder).digest
    for fault, change in FAULTS[law].items():
        code = Compiled(forged(folder, tmp_path / fault, change))
        found = against_run(code, run)
        assert found.well is False and "apart" in found.words, fault
        assert asked(law, case, code).holds is False, fault
        assert (code.digest != digest) == (fault == "constant")
