"""What reports and accounts ask of plants behind metering valves: motion of rods, openings, power of a run."""

from types import SimpleNamespace

import numpy as np
import pytest

from plants.valve_circuits.accounts import account, mechanism
from plants.valve_circuits.accounts.mechanism import of_mechanism
from plants.valve_circuits.accounts.section import Section, own_rows, section_flows
from plants.valve_circuits.circuit import Circuit, Pump
from plants.valve_circuits.circuit import Section as Valves
from plants.valve_circuits.valve_sections import ValveSections, columns, with_oil
from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.run.log import Log, Status

one = lambda *values: np.array(values, float)


def log_of(**signals):
    """Rows at 0, 1 and 2 s."""
    values = np.column_stack([np.broadcast_to(v, 3) for v in signals.values()])
    return Log(one(0, 1, 2), values, tuple(map(Signal, signals)), {}, Status(True, "ended", 2.0))


CIRCUIT = Circuit((Valves("a"), Valves("b")))


def sections(balance, source=None, regenerates=(False, False)):
    return ValveSections(balance, source, CIRCUIT, 0.2, ("a", "b"), ("A", "B"), regenerates)


# ---- motion of rods --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("balance", ["all", "volumes"])
def test_rods_that_are_logged_move_as_logged(balance):
    """Speeds of all, then forces of all; None where one of them is missing."""
    logged = {"f_b": one(1, 2, 3), "v_a": one(4, 5, 6), "f_a": one(7, 8, 9), "v_b": one(0, 1, 0)}
    v, f = sections(balance).motion(log_of(**logged), None)
    assert [x.tolist() for x in v] == [[4, 5, 6], [0, 1, 0]]
    assert [x.tolist() for x in f] == [[7, 8, 9], [1, 2, 3]]
    for name in logged:
        fewer = {k: x for k, x in logged.items() if k != name}
        assert sections(balance).motion(log_of(**fewer), None) is None
    assert sections(balance).motion(log_of(z=one(0, 0, 0)), None) is None


def test_rods_on_oil_move_as_states_and_inputs_say():
    """An input that is not logged is zero; None where a state is not logged."""
    plant = SimpleNamespace(states=(Signal("x"), Signal("y")), inputs=(Signal("u"), Signal("w")))
    source = SimpleNamespace(rods=lambda x, u: (x, u))
    told = sections("chambers", source)
    x, u = told.motion(log_of(x=one(1, 2, 3), y=one(4, 5, 6), w=one(7, 8, 9)), plant)
    assert [k.tolist() for k in x] == [[1, 2, 3], [4, 5, 6]]
    assert [k.tolist() for k in u] == [[0, 0, 0], [7, 8, 9]]
    assert told.motion(log_of(x=one(1, 2, 3), u=one(0, 0, 0)), plant) is None


@pytest.mark.parametrize("regenerates", [(True, False), (False, True), (True, True)])
def test_openings_of_regeneration_are_those_of_the_inputs(regenerates):
    source = SimpleNamespace(
        inputs=(Signal("u_a"),), regeneration=lambda given: ["openings", given]
    )
    told = sections("all", source, regenerates)
    name, (given,) = told.regeneration(log_of(u_a=one(1, 2, 3)), [one(9, 9, 9)])
    assert name == "openings" and given.tolist() == [1, 2, 3]
    none = sections("all", source).regeneration(None, [one(9, 0, 7), one(1, 2, 3)])
    assert [u.tolist() for u in none] == [[0, 0, 0], [0, 0, 0]]


def test_sections_on_a_line_with_oil_regenerate_nothing():
    """One section needs no title."""
    told = with_oil("source", CIRCUIT, 0.3, ["lift", "tilt"])
    assert (told.names, told.titles, told.regenerates) == (
        ("a", "b"),
        ("lift", "tilt"),
        (False, False),
    )
    assert (told.balance, told.source, told.circuit, told.u_b) == (
        "chambers",
        "source",
        CIRCUIT,
        0.3,
    )
    single = with_oil("source", Circuit((Valves("a"),)), 0.3, ["lift"])
    assert (single.titles, single.regenerates) == (("",), (False,))
    assert [c.tolist() for c in columns(log_of(a=one(1, 2, 3)), ["b", "a"])] == [
        [0, 0, 0],
        [1, 2, 3],
    ]


# ---- an account of a machine -----------------------------------------------------------------------------------------------------
LIFT = Valves("lift", A_h=0.02, A_r=0.01, P_hM=3e7, P_rM=2e7, c_a=1e-6)
GIVEN = {"f_lift": one(4e4, 3e4, 2e4), "P_h_lift": one(3e6, 2e6, 2.5e6), "P_r_lift": one(1e6, 2e6, 9e5),
         "u_c": one(0.5, 0.25, 1.0), "u_a": one(0.1, 0.2, 0.3), "P": one(9e6, 8e6, 7e6)}  # fmt: skip
SPEED, SHOWN, B = one(0.1, 0.2, 0.3), one(4.1e4, 2.9e4, 2e4), 2e5
TAKEN = {"Q_s_lift": one(1e-3, 2e-3, 3e-3), "Q_s_motor": one(4e-4, 5e-4, 6e-4)}


def machine(rate=None):
    """A metered lift and a motor that meters nothing, on a pump of its own relief; the lift's force is called f_lift."""
    asked = {}

    def account(P, flow, rate):
        asked.update(P=P, flow=flow, rate=rate)
        return SimpleNamespace(given=P * 2e-3, lost={"bleed": P * 1e-4}, stored=P * 0.5)

    supply = SimpleNamespace(
        pressure_name="P", most=SimpleNamespace(p_r=1e6), account=account, settles=rate is None,
        circuit_pump=Pump(Q=2e-3, P_M=1e7), numbers=[2e-3, 1e7, 1e-7], power_names=lambda: ("pump", "bleed", "delivered"),
    )  # fmt: skip
    lift = SimpleNamespace(
        valves=("ph",),
        damping=B,
        inputs=lambda k: (Signal("u_c"), Signal("u_a")),
        regenerated=lambda u: u[1],
    )
    drives = {"lift": lift, "motor": SimpleNamespace(valves=())}
    states = (Signal("rod_lift"), *((Signal("P"),) if rate is not None else ()))
    monitors = {"f_p_lift": SHOWN, **TAKEN}
    inner = SimpleNamespace(
        actuators=[SimpleNamespace(name=k, drive=d) for k, d in drives.items()], supply=supply,
        flow_names=tuple(TAKEN), states=states, monitors=tuple(map(Signal, monitors)),
        monitor=lambda t, x, u: [t + m for m in monitors.values()],
    )  # fmt: skip
    plant = SimpleNamespace(
        mechanism=inner, called={"f_p_lift": "f_lift"}, states=(), inputs=(), power_names=("pump", "bleed", "ph_lift"),
        powers=lambda t, x, u: [t + one(7, 7, 7), t - one(1, 2, 3), t - one(4, 5, 6)],
        rhs=lambda t, x, u: t, given=lambda u: u,
        inner=lambda t: [SPEED if np.ndim(t) else t + SPEED, *([rate] if rate is not None else [])],
    )  # fmt: skip
    return plant, asked


@pytest.mark.parametrize("rate", [None, 3e6])
def test_where_the_power_of_a_machine_goes(monkeypatch, rate):
    """Rods take f v, v corrected for what was logged as force; what a motor takes is P Q; the pump gives what its supply says."""
    told = {}
    monkeypatch.setattr(
        mechanism, "suspects", lambda *given, held: told.update(given=given, held=held) or ["s"]
    )
    monkeypatch.setattr(mechanism, "counted", lambda log, powers, own: (powers, own))
    plant, asked = machine(rate)
    found = of_mechanism(plant, Circuit((LIFT,)), log_of(**GIVEN))
    P = one(8e6, 7e6, 6e6)
    v = SPEED + (GIVEN["f_lift"] - SHOWN) / B
    assert asked["P"].tolist() == P.tolist() and np.all(asked["rate"] == (rate or 0.0))
    assert asked["flow"] == pytest.approx(sum(TAKEN.values()))
    assert found.pump == pytest.approx(P * 2e-3) and found.stored == pytest.approx(P * 0.5)
    assert list(found.work) == ["rod_lift", "Q_s_motor"]
    assert found.work["rod_lift"] == pytest.approx(GIVEN["f_lift"] * v)
    assert found.work["Q_s_motor"] == pytest.approx(P * TAKEN["Q_s_motor"])
    (row,) = own_rows(Circuit((LIFT,)), [GIVEN["u_c"]], [GIVEN["u_a"]])
    section = Section(row, v, GIVEN["f_lift"], GIVEN["P_h_lift"], GIVEN["P_r_lift"])
    flows = section_flows(section, P)
    assert found.law["ph_lift"] == pytest.approx(flows.Q_ph * (flows.P_c - GIVEN["P_h_lift"]))
    assert found.law["bleed"] == pytest.approx(P * 1e-4)
    assert {k: p.tolist() for k, p in found.given.items()} == {
        "bleed": [1, 2, 3],
        "ph_lift": [4, 5, 6],
    }
    assert found.at.tolist() == [0, 1, 2] and found.suspects == ("s",)
    assert told["held"] is (rate is not None)
    t, sections_, _, numbers, line = told["given"]
    assert t.tolist() == [0, 1, 2] and numbers == [2e-3, 1e7, 1e-7] and line.tolist() == P.tolist()
    assert sections_["lift"].v == pytest.approx(v)
    powers, own = found.counted
    assert own == ("pump",) and powers["bleed"].tolist() == [-1, -2, -3]


def test_speeds_and_flows_that_are_logged_are_taken(monkeypatch):
    monkeypatch.setattr(mechanism, "suspects", lambda *given, held: [])
    monkeypatch.setattr(mechanism, "counted", lambda *given: ())
    plant, asked = machine()
    more = {"v_lift": one(9, 8, 7), "Q_s_motor": one(1, 1, 1)}
    found = of_mechanism(plant, Circuit((LIFT,)), log_of(**GIVEN, **more))
    assert found.work["rod_lift"] == pytest.approx(GIVEN["f_lift"] * one(9, 8, 7))
    assert found.work["Q_s_motor"].tolist() == [8e6, 7e6, 6e6]
    assert asked["flow"] == pytest.approx(TAKEN["Q_s_lift"] + 1.0)
    for name in ("f_lift", "P_h_lift", "P_r_lift"):
        fewer = {k: x for k, x in GIVEN.items() if k != name}
        with pytest.raises(InputError, match=f"the log has no {name}"):
            of_mechanism(plant, Circuit((LIFT,)), log_of(**fewer))


@pytest.mark.parametrize("name, P", [("P", [8e6, 7e6, 6e6]), ("", [1.4e7] * 3)])
def test_pressure_of_a_line_is_above_its_return(name, P):
    """A state of that name, or the one pressure there is."""
    supply = SimpleNamespace(pressure_name=name, most=SimpleNamespace(p_s=1.5e7, p_r=1e6))
    assert account.line_pressure(supply, log_of(**GIVEN)).tolist() == P


def test_what_a_pump_gives_is_counted_by_its_own_name_or_by_its_drives():
    own = lambda k, fed: SimpleNamespace(name=k, drive=SimpleNamespace(needs_supply=fed))
    actuators = [own("a", True), own("b", False), own("c", True)]
    plant = SimpleNamespace(actuators=actuators)
    assert account.fed(plant, {"pump": 1.0}) == ("pump",)
    assert account.fed(plant, {"supply_a": 1.0}) == ("supply_a", "supply_c")
