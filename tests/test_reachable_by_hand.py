"""How far a machine goes, figure by figure: what a claim may allow before it says nothing, from logs and scales by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.observed import reachable as module
from workbench.verification.scales import Scale
from workbench.verification.verdict import Verdict


class Log(dict):
    array = dict.__getitem__
    units: dict = {}

    def signal(self, name):
        return SimpleNamespace(unit=self.units.get(name, "m"))


def a_run(
    monkeypatch, log=None, path=1.0, tool=True, space="tcp", wanted=None, scales=None, **plant
):
    """A run on a machine with these scales; `path`: the size of its path, `wanted`: of the tool, or (signal, order)."""
    log = Log({name: np.array(v, float) for name, v in (log or {}).items()})
    log.time = np.arange(3.0)
    tools = wanted if space != "output" and tool else None
    reference = None if space is None else SimpleNamespace(space=space)
    demand = SimpleNamespace(
        reference=reference,
        desired_tool=lambda t: None if tools is None else np.array(tools, float),
        wanted=wanted if tools is None else (),
    )
    plant = SimpleNamespace(**{"has_tool": tool, "vacua": {}, "p_top": None} | plant)
    known = {"energy": None, "pressure": None} | (scales or {})
    own = SimpleNamespace(
        of_unit=lambda unit: known.get(unit), **{k: known[k] for k in ("energy", "pressure")}
    )
    monkeypatch.setattr(module, "path_size", lambda loop, scenario: path)
    monkeypatch.setattr(module, "scales", lambda plant: own)
    return SimpleNamespace(
        log=log, demand=demand, loop=SimpleNamespace(plant=plant), scenario=None, error_unit="m"
    )


TOOL = {"tcp_x": [1.0, 2.0, 3.0], "tcp_y": [2.0, 2.0, 2.0], "tcp_z": [-1.0, 0.0, 0.0]}
PATH = [[1.0, 2.0, -1.0], [4.0, 6.0, -1.0], [1.0, 2.0, 0.0]]


# ---- the way ---------------------------------------------------------------------------------------------------------------
def test_the_way_of_a_tool_counts_from_where_it_began(monkeypatch):
    """(3, 4, 0) from (1, 2, −1)."""
    assert module.way(a_run(monkeypatch, TOOL, wanted=PATH)) == pytest.approx(5.0)
    assert module.way(a_run(monkeypatch, TOOL, path=0.0, wanted=PATH)) == 0.0
    assert module.way(a_run(monkeypatch, TOOL, wanted=None)) == 0.0
    assert module.way(a_run(monkeypatch, {}, wanted=PATH)) == 0.0
    assert module.way(a_run(monkeypatch, TOOL, space=None)) == 0.0


def test_the_way_of_outputs_is_that_of_all_of_them_together(monkeypatch):
    """3 in a and 4 in b at once; rates have no way."""
    log = {
        "a": [1.0, 9, 9],
        "b": [-2.0, 9, 9],
        "a_d": [1.0, 4.0, 1.0],
        "b_d": [-2.0, 2.0, 3.0],
        "da_d": [99.0] * 3,
    }
    wanted = [("a", 0), ("b", 0), ("a", 1)]
    for tool, space in ((False, "tcp"), (True, "output")):
        made = a_run(monkeypatch, log, tool=tool, space=space, wanted=wanted)
        assert module.way(made) == pytest.approx(5.0)
    assert module.way(a_run(monkeypatch, log, tool=False, wanted=[("a", 1)])) == 0.0


@pytest.mark.parametrize(
    "allowed, said",
    [
        (4.9, ""),
        (5.0, "5 m is more than the whole movement, 5 m"),
        (50.0, "50 m is more than the whole movement, 5 m"),
    ],
)
def test_an_error_as_large_as_the_movement(monkeypatch, allowed, said):
    stroke = {"m": Scale(7.0, "stroke")}
    assert (
        module.too_wide(a_run(monkeypatch, TOOL, wanted=PATH, scales=stroke), allowed, "m") == said
    )
    still = a_run(monkeypatch, TOOL, path=0.0, wanted=PATH, scales=stroke)
    assert bool(module.too_wide(still, allowed, "m")) is (allowed >= 7.0)
    assert module.too_wide(still, 7.0, "m") == "7 m is more than the size of the machine, 7 m"
    assert module.too_wide(still, 6.9, "m") == ""


# ---- claim by claim --------------------------------------------------------------------------------------------------------------
def test_what_a_scan_of_limits_counts(monkeypatch):
    made = a_run(monkeypatch, scales={"m": Scale(0.8, "stroke")})
    for error, told in ((0.79, False), (0.8, True), (0.9, True)):
        assert bool(module.scan(SimpleNamespace(error=error), made, None)) is told


@pytest.mark.parametrize("floor, told", [(0.69, False), (0.7, True)])
def test_a_floor_of_oscillations(monkeypatch, floor, told):
    """The widest of all errors: a stands 0.5 off at most, b 0.7, of machines that stay where they began."""
    made = a_run(
        monkeypatch,
        {"a": [1.0, 0.0, 2.0], "b": [0.0, 0.0, 0.0]},
        scales={"m": Scale(9.0, "stroke")},
    )
    errors = {"a": np.array([0.0, 0.5, -1.0]), "b": np.array([0.0, -0.7, 0.2])}
    monkeypatch.setattr(module, "joint_errors", lambda run: errors)
    monkeypatch.setattr(module, "error_units", lambda loop: ["m"])
    monkeypatch.setattr(module, "size_of", lambda claim, field, units: floor)
    assert module._swing(made, "a") == pytest.approx(0.5) and module._swing(
        made, "b"
    ) == pytest.approx(0.7)
    assert bool(module.settled(SimpleNamespace(chatter=0.5), made, None)) is told
    assert "chatter of 100 %" in module.settled(SimpleNamespace(chatter=1.0), made, None)
    still = a_run(monkeypatch, made.log, path=0.0, scales={"m": Scale(9.0, "stroke")})
    assert module._swing(still, "a") == 9.0 and module._swing(made, "") == math.inf
    errors["b"] = np.zeros(3)
    assert module._swing(a_run(monkeypatch, made.log, scales={"m": Scale(9.0, "s")}), "b") == 9.0
    monkeypatch.setattr(module, "error_units", lambda loop: [])
    assert module.settled(SimpleNamespace(chatter=0.5), made, None) == ""


@pytest.mark.parametrize(
    "low, high, said",
    [
        (-1e5, 1.99e8, ""),
        (-1.02e5, None, "below vacuum"),
        (-1.01e5, None, ""),
        (0.0, 2.0e8, "more than 10 times"),
    ],
)
def test_limits_of_pressures(monkeypatch, low, high, said):
    claim = SimpleNamespace(low=low, high=high)
    found = module.pressures(claim, a_run(monkeypatch, p_top=2e7), None)
    assert said in found and bool(found) is bool(said)
    assert bool(module.pressures(claim, a_run(monkeypatch), None)) is ("vacuum" in said)


def test_a_vacuum_that_the_plant_states(monkeypatch):
    made = a_run(monkeypatch, vacua={"p_a": -5e4, "p_b": -2e4})
    for low, told in ((-2.1e4, True), (-2e4, False)):
        assert bool(module.pressures(SimpleNamespace(low=low, high=None), made, None)) is told


def test_shares_oil_and_energy(monkeypatch):
    """The chambers hold 6 J/2 Pa = 3 m³."""
    known = {"energy": Scale(6.0, "all oil"), "pressure": Scale(2.0, "supply")}
    made = a_run(monkeypatch, scales=known)
    for share, told in ((0.99, False), (1.0, True)):
        assert bool(module.whole_share(SimpleNamespace(share=share), made, None)) is told
    for drawn, low, told in (
        (2.9, 0.0, False),
        (3.0, 0.0, True),
        (1.0, -1.02e5, True),
        (1.0, -1.01e5, False),
    ):
        assert bool(module.cavitation(SimpleNamespace(drawn=drawn, low=low), made, None)) is told
    for bound, told in ((5.9, False), (6.0, True), (None, False)):
        assert bool(module.storage(SimpleNamespace(bound=bound), made, None)) is told
    bare = a_run(monkeypatch)
    assert module.storage(SimpleNamespace(bound=1e9), bare, None) == ""
    for one in ("energy", "pressure"):
        half = a_run(monkeypatch, scales={one: known[one]})
        assert module.cavitation(SimpleNamespace(drawn=1e9, low=0.0), half, None) == ""


@pytest.mark.parametrize("share, told", [(3.9, False), (4.0, True)])
def test_an_overshoot_of_the_output_with_the_most_room(monkeypatch, share, told):
    """a is asked to go from 1 to 3, b from 0 to −4, of a machine of 8: four times and twice the way."""
    from workbench.verification.observed import overshoot

    made = a_run(
        monkeypatch,
        {"a": [1.0, 2.0, 3.5], "b": [0.0, -3.0, -4.5]},
        scales={"m": Scale(8.0, "stroke")},
    )
    errors = {"a": np.array([2.0, 1.0, -0.5]), "b": np.array([-4.0, -1.0, 0.5])}
    monkeypatch.setattr(module, "joint_errors", lambda run: errors)
    monkeypatch.setattr(overshoot, "each_overshoot", lambda run: errors)
    assert bool(module.overshoot(SimpleNamespace(share=share), made, None)) is told
    monkeypatch.setattr(overshoot, "each_overshoot", lambda run: {})
    assert module.overshoot(SimpleNamespace(share=share), made, None) == ""


@pytest.mark.parametrize(
    "held, reach, completed, told",
    [
        (True, "x", True, True),
        (None, "x", True, False),
        (True, "", True, False),
        (True, "x", False, False),
    ],
)
def test_what_holds_by_a_bound_that_cannot_be_exceeded_is_undecided(
    monkeypatch, held, reach, completed, told
):
    monkeypatch.setattr(module, "REACHES", {"x": lambda claim, run, verdict: "it cannot"})
    verdict = Verdict(
        "k",
        "text",
        held,
        "sampled" if held else None,
        worst="3 mm",
        margin=1.0,
        unit="m",
        limit=2.0,
    )
    run = SimpleNamespace(log=SimpleNamespace(status=SimpleNamespace(completed=completed)))
    found = module.put_in_reach(SimpleNamespace(reach=reach), verdict, run)
    if not told:
        assert found is verdict
        return
    assert (found.holds, found.margin, found.limit, found.unit) == (None, None, None, "")
    assert found.worst == f"says nothing: it cannot; {module.MEND}; was: 3 mm"
    monkeypatch.setattr(module, "REACHES", {"x": lambda claim, run, verdict: ""})
    assert module.put_in_reach(SimpleNamespace(reach=reach), verdict, run) is verdict
