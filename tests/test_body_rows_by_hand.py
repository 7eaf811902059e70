"""Rows of bodies, springs and loads in the account of virtual decomposition control, and the law of a PID, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.pid import law as pid
from controllers.pid.law import PID
from controllers.vdc import bodies, body_rows
from controllers.vdc.body_rows import BASE, COUNTED, TIP, BodyRows, _flow, magnitude

V = ([1.0, -2.0, 3.0], [0.5, 0.25, -1.0])
F = ([-4.0, 5.0, 6.0], [7.0, -8.0, 9.0])
G = ([1.0, 1.0, -2.0], [0.0, 3.0, 1.0])


def dot(a, b):
    return sum(x * y for x, y in zip([*a[0], *a[1]], [*b[0], *b[1]]))


def sizes(a):
    return [abs(x) for x in a[0]], [abs(x) for x in a[1]]


# ---- cuts ------------------------------------------------------------------------------------------------------------------------
def test_sizes_of_terms_before_they_are_subtracted():
    assert magnitude(V, F) == dot(sizes(V), sizes(F))


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_virtual_power_through_a_cut(way):
    """Δᵀ(required − true), with a hundredth of the moments of both forces about the origin in its size."""
    place = [2.0, -3.0, 0.5]
    entering, size = _flow(V, (F, G), way, place)
    difference = tuple([a - b for a, b in zip(f, g)] for f, g in zip(F, G))
    assert entering == pytest.approx(way * dot(V, difference))
    x, y, z = np.abs(place)
    own = magnitude(V, F) + magnitude(V, G)
    for f, _ in (F, G):
        a, b, c = np.abs(f)
        own += COUNTED * (0.5 * (y * c + z * b) + 0.25 * (z * a + x * c) + 1.0 * (x * b + y * a))
    assert size == pytest.approx(own) and COUNTED == 0.01


def machine(**other):
    actuators = [
        SimpleNamespace(name="rod", joint="", drive=SimpleNamespace(inputs=lambda name: ("u",))),
        SimpleNamespace(name="coil", joint="tilt", drive=SimpleNamespace(inputs=lambda name: ())),
    ]
    return SimpleNamespace(**{"actuators": actuators, "moving_ground": False} | other)


class Rows(BodyRows):
    def __init__(self, machine):
        self.own = machine

    @property
    def machine(self):
        return self.own


def test_a_cut_is_called_after_pins_or_joint():
    own = Rows(machine())
    assert (own.cut(0), own.cut(1)) == ("pins rod", "joint tilt")


def test_a_load_perturbs_and_a_spring_that_is_required_takes_its_part(monkeypatch):
    """The load's power on Δṡ enters and is what perturbs; the spring's −Δṡ (required − true) is its own fall."""
    monkeypatch.setattr(bodies, "spring_forces", lambda plant, lines, rates: {0: 3.0, 1: 20.0})
    need = SimpleNamespace(
        lines=SimpleNamespace(by_joint=[[2.0, 1.0], [0.0, 4.0]]), rates=[0.5, 0.25], at=SimpleNamespace(rates=[0.25, 0.75]),
        every=[None, 26.0],
    )  # fmt: skip
    load, spring = Rows(machine())._springs(need, [7.0, None])
    Δ = (2 * 0.5 + 0.25) - (2 * 0.25 + 0.75)
    assert (load.name, load.storage, load.dissipation) == ("load rod", 0.0, 0.0)
    assert load.flows == {"pins rod": pytest.approx(7.0 * Δ)} and load.perturbations == {
        "load": pytest.approx(-7.0 * Δ)
    }
    Δ = 4 * 0.25 - 4 * 0.75
    assert spring.dissipation == pytest.approx(-Δ * 6.0) and spring.flows == {
        "joint tilt": spring.dissipation
    }
    assert spring.scale == pytest.approx(2.0 * 46.0) and spring.perturbations == {}


@pytest.mark.parametrize("moving", [False, True])
def test_what_enters_through_the_tool_and_through_a_ground_that_moves(moving):
    flows = [{}, {"joint a": (1.0, 2.0)}, {"joint b": (3.0, 4.0), "pins c": (-5.0, 6.0)}]
    Rows(machine(moving_ground=moving))._outer(flows, [G, V, F], (1, G))
    assert flows[1][TIP] == (pytest.approx(dot(V, G)), magnitude(V, G)) and flows[0] == {}
    assert (BASE in flows[2]) is moving
    if moving:
        assert flows[2][BASE] == (2.0, 10.0)


@pytest.mark.parametrize("name, placed", [("lift.B1", ("lift", "B1")), ("cab", ("cab", "cab"))])
def test_the_row_of_a_body(monkeypatch, name, placed):
    """½ Δᵀ M Δ, Δᵀ K Δ with what rubs in its joint, which enters there; sizes of nets, dissipation and cuts."""
    asked = []
    momentum = lambda body, motion, j, Δ: asked.append((body.name, motion, j, Δ)) or G
    monkeypatch.setattr(body_rows.mechanics, "momentum", momentum)
    body = SimpleNamespace(name=name)
    own = Rows(machine(bodies=[None, body]))
    own._damped = lambda need, j: (0.75, 1.25)
    need = SimpleNamespace(fed=[None, F], nets=[None, G], at=SimpleNamespace(motion="motion"))
    flows = {f"joint {name}": (2.0, 3.0), "pins rod": (-5.0, 6.0)}
    found = own._body(need, 1, V, F, flows)
    D = dot(V, F) + 0.75
    assert (found.subsystem, found.name) == placed and asked == [(name, "motion", 1, V)]
    assert found.storage == pytest.approx(dot(V, G) / 2) and found.dissipation == pytest.approx(D)
    assert found.flows == {f"joint {name}": 2.75, "pins rod": -5.0} and found.perturbations == {}
    size = magnitude(V, G) + magnitude(V, F) + abs(D) + 3.0 + 1.25 + 6.0
    assert found.scale == pytest.approx(size) and flows[f"joint {name}"] == (2.0, 3.0)


def test_the_row_of_the_ground_stores_and_dissipates_nothing():
    found = body_rows._ground({"joint a": (1.5, 2.0), "pins b": (-4.0, 5.0)})
    assert (found.storage, found.dissipation, found.perturbations) == (0.0, 0.0, {})
    assert found.flows == {"joint a": 1.5, "pins b": -4.0} and found.scale == 7.0


# ---- PID -------------------------------------------------------------------------------------------------------------------------
def test_a_command_is_the_sum_of_its_parts_within_its_limits(monkeypatch):
    """K_p e + I + K_d (e − e_f)/τ + feed-forward − pressure feedback, then the valve's overlap."""
    asked = {}
    monkeypatch.setattr(
        pid,
        "feed_forward",
        lambda law, rates, y, slow: asked.update(rates=rates, slow=slow) or [10.0, 20.0],
    )
    monkeypatch.setattr(
        pid, "pressure_feedback", lambda law, p, slow: asked.update(p=p) or [1.0, 2.0]
    )
    monkeypatch.setattr(pid, "overlap_made_up_for", lambda law, v: [0.5, -0.5])
    own = SimpleNamespace(
        n=2, τ=0.5, K_p=(2.0, 4.0), K_d=(0.25, 3.0), u_max=12.0, each=lambda values: values
    )
    e, y, r = [1.0, -2.0], [7.0, 8.0, 3e5, 4e5], [0.0, 0.0, 0.75, -0.75]
    z = [0.125, 0.25, 0.5, -1.0, 1e5, 2e5]
    u, raw, slope = PID._law(own, e, z, y, r)
    assert slope == pytest.approx([1.0, -2.0])
    assert raw == pytest.approx([2.0 + 0.125 + 0.25 + 9.0 + 0.5, -8.0 + 0.25 - 6.0 + 18.0 - 0.5])
    assert u == pytest.approx([11.875, 3.75]) and asked == {
        "rates": [0.75, -0.75],
        "slow": [1e5, 2e5],
        "p": [3e5, 4e5],
    }
    own.u_max = 5.0
    assert PID._law(own, e, z, y, r)[0] == pytest.approx([5.0, 3.75])
