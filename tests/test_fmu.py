"""FMUs as plants: the same numbers as the same equations of ours, events where they are, units, names, other starts."""

import numpy as np
import pytest
from fmu_twin import Bench
from fmus import bench

pytest.importorskip("fmpy")
from workbench import FMU, ClosedLoop, InputError, Sampled, Scenario, Waypoints, simulate  # noqa: E402

CONNECT = {"disturbances": ["D"], "outputs": {"q": "mass.q", "q_mm": "q_mm"}}
RANGES = {"F": (-40.0, 40.0)}
PATH = Waypoints("output", ("start", (0.05,)), 0.3)
WAYS = [(v, kind) for v in (2, 3) for kind in ("model-exchange", "co-simulation")]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmu")
    return {v: bench(folder, v, f"bench{v}.fmu") for v in (2, 3)}


def plant(file, kind=None, **given):
    return FMU(file, trust=True, interface=kind, **({"connect": CONNECT, "ranges": RANGES} | given))


def loop(model, T_s=5e-3):
    from controllers import PID

    gains = {"K_p": (300.0,), "K_i": (900.0,), "K_d": (40.0,), "u_max": 40.0}
    law = PID(model, feed="none", damping="none", signals=("q",), **gains)
    return ClosedLoop(model, Sampled(law, T_s))


@pytest.mark.parametrize("version, kind", WAYS)
def test_a_loop_on_an_fmu_is_the_loop_on_its_equations(files, version, kind):
    scenario = Scenario(0.4, reference=PATH, disturbances={"D": 3.0}, offset={"q": 0.01})
    own = simulate(loop(Bench(m=2.5)), scenario)
    found = simulate(loop(plant(files[version], kind, parameters={"m": "2500 g"})), scenario)
    apart = np.abs(found.array("q") - own.array("q")).max()
    # RK4 of ours is the same method; the FMU's own midpoint rule takes steps of 0.1 ms.
    assert apart <= (1e-12 if kind == "model-exchange" else 1e-6)
    assert np.ptp(own.array("q")) > 0.02
    assert found.array("q_mm") == pytest.approx(found.array("q"), abs=1e-12)


@pytest.mark.parametrize("version, kind", WAYS)
def test_an_open_run_with_a_stop_bounces_where_it_should(files, version, kind):
    bouncing = bench_with_stop(files, version)
    free = {"k": 0.0, "d": 0.0, "stop": "20.27 mm", "e": 0.8}
    given = {"parameters": free, "start": {"mass.v": "0.5 m/s"}}
    log = simulate(plant(bouncing, kind, **given), Scenario(0.1))
    # At 0.5 m/s it reaches the stop after 40.54 ms, within a step, and goes back at 0.8 of that.
    stop = 0.02027
    since = log.time - stop / 0.5
    expected = np.where(since < 0, 0.5 * log.time, stop - 0.4 * since)
    assert np.abs(log.array("q") - expected).max() < (1e-10 if kind == "model-exchange" else 1e-4)


def bench_with_stop(files, version):
    from pathlib import Path

    folder = Path(files[version]).parent
    return bench(folder, version, f"stop{version}.fmu", indicators=1)


def test_every_run_of_a_process_asks_how_many_events_there_are(files):
    """FMI 3 lets parameters change their number: a stop of one run is not that of the next."""
    from workbench.interop.fmu.link import Link
    from workbench.interop.fmu.running import begun

    free = plant(files[3], "model-exchange", parameters={"m": 2.0})
    stopped = plant(files[3], "model-exchange", parameters={"stop": "20 mm"})
    link = Link(free.model.spec(free.time_limit))
    assert [begun(one, link, None, (0.0, 0.0))[0] for one in (free, stopped, free)] == [
        False,
        True,
        False,
    ]
    link.close()


@pytest.mark.parametrize("kind", ["model-exchange", "co-simulation"])
def test_a_run_leaves_nothing_to_the_next_one(files, kind):
    one = loop(plant(files[2], kind))
    first, other, again = (
        simulate(one, Scenario(0.1, reference=PATH, offset={"q": q})) for q in (0.01, -0.02, 0.01)
    )
    assert np.array_equal(first.values, again.values)
    assert first.array("q")[0] == 0.01 and other.array("q")[0] == -0.02


def test_names_are_connected_or_answered_with_the_nearest(files):
    whole = FMU(files[3], trust=True)
    assert [s.name for s in whole.inputs] == ["F", "D"]
    assert [(s.name, s.unit) for s in whole.outputs] == [
        ("mass_q", "m"),
        ("mass_v", "m/s"),
        ("q_mm", "m"),
    ]
    assert [s.name for s in whole.states] == ["mass_q", "mass_v"]
    assert plant(files[3]).inputs[1].kind == "disturbance"
    for given, near in (
        ({"connect": {"outputs": {"q": "mass.p"}}}, "mass.q"),
        ({"connect": {"inputs": ["G"]}}, "F"),
        ({"parameters": {"mm": 3}}, "did you mean m"),
        ({"parameters": {"mass.q": 3}}, "below start"),
        ({"parameters": {"m": "3 V"}}, "parameters.m: a mass was expected"),
        ({"start": {"der(mass.q)": 3}}, "nothing that could be set"),
        ({"ranges": {"G": (0, 1)}}, "did you mean F"),
        ({"ranges": {"F": (1, 0)}}, "ranges.F: 1 is not below 0"),
        ({"connect": {"outputs": {"F": "mass.q"}}}, "both called F"),
        ({"connect": {"inputs": ["m"]}}, "no real input"),
        ({"connect": {"states": {"q": "mass.q"}}}, "those that the FMU declares"),
        ({"interface": "both"}, "choose from"),
        ({"time_limit": 0.0}, "above zero"),
    ):
        with pytest.raises(InputError) as why:
            FMU(files[3], trust=True, **given)
        assert near in str(why.value)


def test_parameters_are_numbers_of_the_plant(files):
    from workbench.contract.parameters import bind, leaves

    one = plant(files[2], parameters={"m": "2500 g", "k": 60})
    assert {leaf.path: (leaf.value, leaf.info.unit) for leaf in leaves(one)} == {
        "parameters.k.value": (60.0, "N/m"),
        "parameters.m.value": (2.5, "kg"),
    }
    softer = bind(one, {"parameters.k.value": 30.0})
    assert softer.rhs(0.0, [0.1, 0.0], [0.0, 0.0]) == pytest.approx([0.0, -30.0 * 0.1 / 2.5])


def test_a_file_that_changed_is_another_plant(files, tmp_path):
    import os

    from workbench.interop.fmu import model

    path = bench(tmp_path, 2)
    one = plant(path)
    bench(tmp_path, 2, indicators=1)
    model._known.clear()
    model._wired.cache_clear()
    with pytest.raises(InputError, match="has changed"):
        _ = one.model
    os.remove(path)


def test_a_law_of_ones_own_runs_on_it(files):
    def law(t, y, r):
        return [-200.0 * y[0]]

    from workbench import Plain

    model = plant(files[3], "co-simulation", connect={**CONNECT, "outputs": {"q": "mass.q"}})
    held = Sampled(Plain(law, measured=("q",), commands=("F",)), 5e-3)
    log = simulate(ClosedLoop(model, held), Scenario(0.3, offset={"q": 0.02}))
    assert log.status.completed and abs(log.array("q")[-1]) < 0.02
