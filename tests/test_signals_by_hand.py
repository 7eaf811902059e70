"""Signals that sentences and laws may name: which there are of a loop, with their units, and what a PID measures."""

from types import SimpleNamespace

import pytest

from controllers.pid.signals import ActuatorSignals, check_actuators
from controllers.pid.units import _ratio
from workbench.contract.declared import Notched
from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Limit
from workbench.contract.system import Signal
from workbench.verification.temporal import signals as module


def a_loop(tool=True, joints=("q_1", "q_2"), pressures=(), limits=()):
    plant = SimpleNamespace(
        states=[Signal("q_1", "rad"), Signal("q_2", "m"), Signal("other", "V")],
        outputs=[Signal("Y", "mm"), Signal("tcp_x", "m")],
        joint_names=joints,
        has_tool=tool,
        pressure_names=pressures,
        machine_limits=lambda: limits,
    )
    return SimpleNamespace(plant=plant)


def worked_out(
    monkeypatch, space="tcp", wanted=(), logged=("tcp_x",), commands=False, ledger=False, **other
):
    monkeypatch.setattr(module, "error_unit", lambda loop: "m")
    monkeypatch.setattr(module, "command_limits", lambda loop: {"u": (-1, 1)} if commands else {})
    monkeypatch.setattr(module, "has_ledger", lambda loop: ledger)
    reference = None if space is None else SimpleNamespace(space=space)
    demand = SimpleNamespace(reference=reference, wanted=wanted)
    return module._worked_out(a_loop(**other), demand, dict.fromkeys(logged, "m"))


TOOL = {"e_tcp_x": "m", "e_tcp_y": "m", "e_tcp_z": "m"}
JOINTS = {"e_q_1": "rad", "e_q_2": "m"}
ERRORS = {"tool_error": "m", "overshoot": "1"}


def test_errors_of_tool_and_joints_or_of_what_follows_a_reference(monkeypatch):
    wanted = [("Y", 0), ("Y", 1), ("unknown", 0)]
    outputs = {"e_Y": "mm", "e_unknown": "1"}
    assert worked_out(monkeypatch, wanted=wanted) == ERRORS | JOINTS | TOOL
    assert worked_out(monkeypatch, wanted=wanted, logged=()) == ERRORS | JOINTS
    assert worked_out(monkeypatch, "output", wanted) == ERRORS | outputs
    assert worked_out(monkeypatch, wanted=wanted, tool=False) == ERRORS | outputs
    assert worked_out(monkeypatch, None, wanted) == {}


def test_what_else_is_worked_out(monkeypatch):
    assert worked_out(monkeypatch, None, pressures=("p_a",)) == {
        "p_lowest": "Pa",
        "p_highest": "Pa",
    }
    assert worked_out(monkeypatch, None, commands=True) == {"at_limit": "1"}
    assert worked_out(monkeypatch, None, ledger=True) == {"v": "J"}
    limits = (Limit("spool", ("x",), bearable=True), Limit("stroke", ("s",)))
    assert worked_out(monkeypatch, None, limits=limits) == {"at spool": "1"}


# ---- of a PID -----------------------------------------------------------------------------------------------------------------
class Law(ActuatorSignals):
    def __init__(self, **given):
        self.__dict__.update(
            {"feed": "gain", "damping": "none", "δ": 0.0, "signals": (), "τ": 0.1} | given
        )
        for name in ("K_p", "K_i", "K_d", "K_v", "K_f"):
            self.__dict__.setdefault(name, (1.0,))


def plant(behind=(1, 2)):
    """Two actuators, with chambers behind the valves of those that are named."""
    outputs = [Signal("s_1", "m", "length"), Signal("s_2", "m", "other length")]
    outputs += [
        Signal(f"p_{side}{k}", "Pa", f"pressure {side}{k}") for k in (1, 2) for side in "ab"
    ]
    inputs = [Signal("u_1", "V", "", "control"), Signal("u_2", "V", "", "control")]
    own = lambda k: Notched(
        str(k), None, f"u_{k}", "", f"ds_{k}", f"f_p{k}", (f"p_a{k}", f"p_b{k}")
    )
    notched = tuple(map(own, behind))
    return SimpleNamespace(notched=notched, outputs=outputs, inputs=inputs, spaces=())


@pytest.fixture
def law(monkeypatch):
    from controllers.pid import signals as own

    monkeypatch.setattr(own, "controls", lambda model: tuple(model.inputs))
    monkeypatch.setattr(own, "positions_of", lambda model, names, n: tuple(model.outputs[:n]))
    return lambda **given: Law(**{"model": plant()} | given)


PRESSURES = ["p_a1", "p_b1", "p_a2", "p_b2"]


@pytest.mark.parametrize(
    "feed, damping, used",
    [
        ("gain", "none", False),
        ("flow", "none", True),
        ("gain", "pressure", True),
        ("flow", "pressure", True),
    ],
)
def test_a_pid_measures_pressures_where_it_needs_them(law, feed, damping, used):
    made = law(feed=feed, damping=damping)
    assert made.uses_pressures is used and made.n == 2
    assert [s.name for s in made.measured] == ["s_1", "s_2", *(PRESSURES if used else [])]
    states = ["I_s_1", "I_s_2", "e_s_1_slow", "e_s_2_slow"]
    assert [s.name for s in made.states] == states + [f"{p}_slow" for p in PRESSURES if used]
    assert [s.unit for s in made.states][:4] == ["V", "V", "m", "m"]


def test_references_and_errors_of_a_pid(law):
    made = law()
    assert [(s.name, s.unit, s.kind) for s in made.references] == [
        ("s_1_d", "m", "reference"),
        ("s_2_d", "m", "reference"),
        ("ds_1_d", "m/s", "reference"),
        ("ds_2_d", "m/s", "reference"),
    ]
    assert [s.name for s in made.monitors] == ["e_s_1", "e_s_2"]
    assert made.errors([1.0, 2.0, 9.0], [1.5, 1.0, 7.0]) == [0.5, -1.0]
    assert made.each((3.0,)) == [3.0, 3.0] and made.each((3.0, 4.0)) == [3.0, 4.0]


def test_gains_that_a_search_may_turn(law):
    assert law(K_p=(0.0, 2.0), K_i=(0.0,), K_d=(0.1,)).searched == ("K_p", "K_d")


@pytest.mark.parametrize(
    "given, said",
    [
        ({}, ""),
        ({"K_i": (1.0, 2.0)}, ""),
        ({"K_f": (1.0, 2.0, 3.0)}, "K_f: expected 1 or 2"),
        ({"K_p": ()}, "K_p: expected 1 or 2"),
        ({"model": plant(()), "feed": "flow"}, "and has none at u_1, u_2"),
        ({"model": plant(()), "damping": "pressure"}, "and has none at u_1, u_2"),
        ({"model": plant(()), "δ": 0.1}, "and has none at u_1, u_2"),
        ({"model": plant(())}, ""),
        ({"feed": "flow", "δ": 1.0}, ""),
        ({"model": plant((2,)), "feed": "flow"}, "and has none at u_1"),
        ({"model": plant((2, 1)), "feed": "flow"}, ""),
    ],
)
def test_fields_that_do_not_fit_the_actuators(law, given, said):
    if not said:
        check_actuators(law(**given))
        return
    with pytest.raises(InputError, match=said):
        check_actuators(law(**given))


def test_one_position_for_each_command(law, monkeypatch):
    from controllers.pid import signals as own

    monkeypatch.setattr(own, "positions_of", lambda model, names, n: tuple(model.outputs[:1]))
    with pytest.raises(InputError, match="expected 2 measured positions"):
        check_actuators(law())


@pytest.mark.parametrize(
    "u, y, seconds, unit",
    [
        ("V", "m", 0, "V/m"),
        ("V", "m", -1, "V/(m s)"),
        ("V", "m", 1, "V s/m"),
        ("m", "m", 0, "1"),
        ("m", "m", -1, "1/s"),
        ("m", "m", 1, "s"),
        ("1", "m", 0, "1/m"),
        ("1", "m", 1, "s/m"),
        ("V", "1", 0, "V"),
        ("V", "1", -1, "V/s"),
        ("m/s", "rad", 0, "(m/s)/rad"),
        ("V", "m/s", -1, "V/((m/s) s)"),
    ],
)
def test_units_of_gains(u, y, seconds, unit):
    assert _ratio(u, y, seconds) == unit
