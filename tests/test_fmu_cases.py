"""FMUs in case files and under claims: trust, places of refusals, verdicts beside those on the same equations."""

import json

import numpy as np
import pytest
from fmu_twin import Bench, WholeBench
from fmus import bench

pytest.importorskip("fmpy")
from workbench import FMU, ClosedLoop, InputError, Sampled, Scenario, Waypoints, linearize, verify  # noqa: E402
from workbench.cases.file import load  # noqa: E402
from workbench.commands import cli  # noqa: E402
from workbench.contract.trust import trusting  # noqa: E402
from workbench.verification import claims as C  # noqa: E402

CASE = """\
plant:
  type: FMU
  file: bench.fmu
  connect: {outputs: {q: mass.q}, disturbances: [D]}
  parameters: {m: 2500 g, k: 60 N/m}
  ranges: {F: [-40 N, 40 N]}
controller: {law: PID, K_p: 300, K_i: 900, K_d: 40, feed: none, damping: none}
loop: {sample_time: 5 ms}
scenario:
  reference: {type: Waypoints, space: output, points: [start, [50 mm]], leg: 0.3 s}
  duration: 0.4 s
"""


def trusted(path):
    with trusting():
        return load(path)


SMALL = "claims: {tracking: {error: 20 mm, settle: 0.1 s}, practical-stability: false, settled: false}\n"


@pytest.fixture
def case(tmp_path):
    bench(tmp_path, 2)
    path = tmp_path / "case.yaml"
    path.write_text(CASE + SMALL)
    return path


def test_a_case_file_is_judged_where_it_is_trusted(case, capsys):
    assert cli.main(["simulate", str(case), "--quiet"]) == 3
    assert "case.yaml, line 3, plant.file" in (said := capsys.readouterr().err)
    assert "foreign code" in said and "--trust" in said
    assert cli.main(["simulate", str(case), "--quiet", "--trust"]) == 0
    verdicts = case.with_suffix(".json")
    assert cli.main(["verify", str(case), "--trust", "--quiet", "--json", str(verdicts)]) == 0
    found = {v["key"]: v for v in json.loads(verdicts.read_text())["verdicts"]}
    assert found["tracking"]["holds"] and found["saturation"]["holds"]
    told = found["unasked"]["worst"]
    for words in ("the plant is called from Python", "neither energies", "only their values"):
        assert words in told
    with pytest.raises(InputError, match="foreign code"):
        load(case)
    assert trusted(case).plant.parameters[1].value == 2.5


@pytest.mark.parametrize(
    "old, new, line, said",
    [
        ("mass.q}", "mass.p}", 4, "connect.outputs.*mean mass.v or mass.q"),
        ("2500 g", "3 bar", 5, "a mass was expected"),
        ("k: 60", "kk: 60", 5, "parameters.*mean k"),
        ("[-40 N, 40 N]", "[40 N, -40 N]", 6, "not below"),
        ("F: [-40", "G: [-40", 6, "mean F"),
        ("bench.fmu", "none.fmu", 3, "no such file"),
        ("type: FMU", "type: FMI", 2, "mean FMU"),
        ("  ranges", "  interface: me\n  ranges", 6, "model-exchange"),
        ("  ranges", "  time_limit: -1 s\n  ranges", 6, "time_limit"),
    ],
)
def test_what_is_wrong_is_said_at_its_line(case, old, new, line, said):
    assert old in CASE
    case.write_text(CASE.replace(old, new))
    with pytest.raises(InputError, match=f"(?s)case.yaml, line {line}, plant.*{said}"):
        trusted(case)


@pytest.mark.long
def test_its_parameters_are_searched(case):
    text = (
        CASE
        + SMALL.rstrip("}\n")
        + ", falsify: {over: {parameters.k.value: [60, 4000]}, budget: 3}}\n"
    )
    case.write_text(text)
    found = {v.key: v for v in verify_case(trusted(case))}
    assert found["falsify"].holds is False


def verify_case(case):
    return verify(case.loop, case.scenario, case.claims)


# ---- claims ---------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmu")
    return {
        "exact": bench(folder, 2, "exact.fmu"),
        "differences": bench(folder, 3, "differences.fmu", directional=False),
        "events": bench(folder, 2, "events.fmu", indicators=1),
    }


def plant(file, **given):
    connect = {"disturbances": ["D"], "outputs": {"q": "mass.q", "q_mm": "q_mm"}}
    return FMU(file, trust=True, **({"connect": connect, "ranges": {"F": (-40, 40)}} | given))


def loop(model):
    from controllers import PID

    gains = {"K_p": (300.0,), "K_i": (900.0,), "K_d": (40.0,), "u_max": 40.0}
    law = PID(model, feed="none", damping="none", signals=("q",), **gains)
    return ClosedLoop(model, Sampled(law, 5e-3))


SCENARIO = Scenario(0.4, reference=Waypoints("output", ("start", (0.05,)), 0.3))
LINEAR = (C.LinearStability(),)


@pytest.mark.parametrize("how, strength", [("exact", "numerical"), ("differences", "sampled")])
def test_near_a_point_it_is_what_its_equations_are(files, how, strength):
    own = linearize(Bench(), [0.1, 0.2], [1.0, 2.0])
    found = linearize(plant(files[how]), [0.1, 0.2], [1.0, 2.0])
    for name in "ABCD":
        assert getattr(found, name) == pytest.approx(getattr(own, name), abs=1e-6), name
    assert found.residual == pytest.approx(own.residual) and found.states == ("q", "mass_v")
    (theirs,) = verify(loop(plant(files[how])), SCENARIO, LINEAR)
    (ours,) = verify(loop(Bench()), SCENARIO, LINEAR)
    assert (theirs.holds, ours.holds) == (True, True)
    assert (theirs.strength, ours.strength) == (strength, "proof")
    assert theirs.data["radius"] == pytest.approx(ours.data["radius"], rel=1e-6)
    assert theirs.data["margins"][0]["delay"] == pytest.approx(
        ours.data["margins"][0]["delay"], rel=1e-3
    )
    (source,) = (a.source for a in theirs.assumptions if a.text == "derivatives are right")
    assert ("directional" if how == "exact" else "differences") in source


def test_an_unstable_loop_is_refused_near_a_point(files):
    pushed = plant(files["exact"], parameters={"k": -500.0})
    (found,) = verify(loop(pushed), Scenario(0.05, reference=SCENARIO.reference), LINEAR)
    assert found.holds is False


@pytest.mark.parametrize(
    "how, given, said",
    [
        ("exact", {"interface": "co-simulation"}, "keeps its state to itself"),
        ("events", {"parameters": {"stop": 1.0}}, "has events"),
    ],
)
def test_linear_claims_that_cannot_be_asked_are_undecided(files, how, given, said):
    (found,) = verify(loop(plant(files[how], **given)), SCENARIO, LINEAR)
    assert found.holds is None and said in found.worst


def test_proofs_are_undecided(files):
    asked = (
        C.RegionOfAttraction(),
        C.RobustStability(box={"parameters.k.value": (40.0, 60.0)}),
    )
    model = plant(files["exact"], parameters={"k": 50.0})
    for found in verify(loop(model), SCENARIO, asked):
        assert found.holds is None and found.worst, found


@pytest.mark.long
def test_practical_stability_needs_other_starts(files):
    asked = (C.PracticalStability(runs=2, duration=0.8, settle=0.2, longest=0.8),)
    settled = Scenario(0.8, reference=Waypoints("output", ("start", (0.05,)), 0.2))
    for kind in ("model-exchange", "co-simulation"):
        (found,) = verify(loop(plant(files["exact"], interface=kind)), settled, asked)
        assert found.holds is not None or "returning" in found.worst or "too slow" in found.worst
        assert len(found.data["starts"]) == 2
        assert np.ptp([s["mass_v"] for s in found.data["starts"]]) > 0
    hidden = plant(
        files["exact"],
        interface="co-simulation",
        connect={"disturbances": ["D"], "outputs": {"q": "mass.q", "q_mm": "q_mm"}, "states": []},
    )
    (found,) = verify(loop(hidden), settled, asked)
    assert found.holds is None and "no other start can be had" in found.worst


def test_a_continuous_law_runs_where_the_flow_is_a_function(files):
    from controllers import PID
    from workbench import simulate

    def continuous(model):
        gains = {"K_p": (300.0,), "K_i": (900.0,), "K_d": (40.0,), "u_max": 40.0}
        return ClosedLoop(model, PID(model, feed="none", damping="none", signals=("q",), **gains))

    short = Scenario(0.02, reference=SCENARIO.reference, offset={"q": 0.01})
    own, found = (simulate(continuous(m), short) for m in (Bench(), plant(files["exact"])))
    assert found.array("q") == pytest.approx(own.array("q"), rel=1e-12)
    for how, given, said in (
        ("exact", {"interface": "co-simulation"}, "co-simulation"),
        ("events", {"parameters": {"stop": 1.0}}, "has events"),
    ):
        with pytest.raises(InputError, match=f"(?s){said}.*sample_time"):
            simulate(continuous(plant(files[how], **given)), short)


def test_a_predictive_law_designs_itself_on_it(files):
    from controllers import MPC
    from workbench import Hold, simulate

    def predictive(model):
        own = {"Q": (1e4,), "R": (1e-3,), "N": 10, "u_min": (-40.0,), "u_max": (40.0,)}
        return ClosedLoop(model, Sampled(MPC(model, T_s=5e-3, tracked=("q",), **own), 5e-3))

    short = Scenario(0.1, reference=Hold("output", (0.02,)))
    connect = {"disturbances": ["D"], "outputs": {"q": "mass.q", "mass_v": "mass.v"}}
    found = simulate(predictive(plant(files["exact"], connect=connect)), short)
    own = simulate(predictive(WholeBench()), short)
    assert found.array("q") == pytest.approx(own.array("q"), abs=1e-9) and own.array("q")[-1] > 0.01
    hidden = plant(files["exact"], connect=connect, interface="co-simulation")
    with pytest.raises(InputError, match="keeps its state to itself"):
        simulate(predictive(hidden), short)
