"""A loop at rest with its valves opened by a hair, by hand: which inputs are steered, what is left over, and what is linearised."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench import Signal
from workbench.contract.errors import InputError
from workbench.verification.linear import local as module
from workbench.verification.linear.local import HAIR, _one
from workbench.verification.linear.resting import Rest

BANDS = (0.2, 0.0, 0.5, 0.1)
STATES = ("p", "u_s_a", "u_s_b", "u_held", "w_held", "u_applied")


def parts(count=2, sampled=True, G=((2.0, 1.0), (0.0, 4.0)), flow=(3e5, 0.0, 0.0, 0.0, 0.0, 0.0)):
    """(loop, traced, slopes): commands are G (w₁, w₂) + (0.5, −0.25), where the first entry of w is no reference."""
    commands = (Signal("u", "V"), Signal("w", "V"))
    units = ("Pa", "V", "V", "V", "V", "V")
    states = tuple(Signal(n, u) for n, u in zip(STATES, units))
    valves = [SimpleNamespace(valve=SimpleNamespace(dead_band=b)) for b in BANDS[:count]]
    plant = SimpleNamespace(cylinders=valves, labels=tuple("abcd")[:count], just_shut={})
    loop = SimpleNamespace(
        plant=plant,
        states=states,
        monitors=(Signal("other", "1"), *commands),
        controller=SimpleNamespace(commands=commands),
        period=0.1 if sampled else None,
        defaults=dict,
    )
    G = np.array(G)

    def commanded(w):
        return G @ w[1:] + np.array([0.5, -0.25])

    def jump(t, x, w, c):
        assert (t, c) == (0.0, "c")
        return np.array([9.0, 9.0, 9.0, *commanded(w), 9.0])

    def log(t, x, w, c):
        assert (t, c) == (0.0, "c")
        return np.array([9.0, *commanded(w)])

    def flowing(t, x, w, c):
        assert (t, c) == (0.0, "c")
        return np.array([*flow, 77.0])

    traced = SimpleNamespace(jump=jump, log=log, flow=flowing)
    at = {"jump": 3, "log": 1}

    def slopes(name):
        def of(t, x, w, c):
            assert (t, c) == (0.0, "c")
            if name == "flow":
                return np.arange(64.0).reshape(8, 8), None
            by_w = np.zeros((6, 3))
            by_w[at[name] : at[name] + 2, 1:] = G
            return None, by_w

        return of

    return loop, traced, {name: slopes(name) for name in ("jump", "log", "flow")}


@pytest.fixture
def seen(monkeypatch):
    """What the linearisation is asked with; nothing is taken out of it."""
    told = {}

    def monodromy(at, A):
        told.update(x=at.x.copy(), w=at.w.copy(), A=A, held=at.held, sampled=True)
        return "M", "B", "C"

    def continuous(at, A, rows, wanted):
        told.update(x=at.x.copy(), w=at.w.copy(), A=A, rows=rows, wanted=wanted, sampled=False)
        return "M", "B", "C"

    monkeypatch.setattr(module, "monodromy", monodromy)
    monkeypatch.setattr(module, "continuous", continuous)
    monkeypatch.setattr(module, "_deflate", lambda found, plant, sizes: found)
    return told


def one(seen, sides=(1, -1), x=None, w=(5.0, 0.0, 0.0), **given):
    loop, traced, jac = parts(**given)
    x = np.arange(1.0, 7.0) if x is None else x
    return _one(Rest(loop, traced, jac, "c", x, np.array(w)), [1, 2], sides)


@pytest.mark.parametrize("sampled", [True, False])
@pytest.mark.parametrize("sides", [(1, -1), (-1, -1), (-1, 1)])
def test_valves_are_opened_by_a_hair_beyond_their_bands(seen, sampled, sides):
    found = one(seen, sides, sampled=sampled)
    wanted = np.array(sides) * (HAIR + np.array(BANDS[:2]))
    formed = np.array([[2.0, 1.0], [0.0, 4.0]]) @ seen["w"][1:] + [0.5, -0.25]
    assert formed == pytest.approx(wanted, abs=1e-12) and seen["w"][0] == 5.0
    held = wanted if sampled else [4.0, 5.0]
    applied = wanted[0] if sampled else 6.0
    assert seen["x"] == pytest.approx([1.0, *wanted, *held, applied])
    assert seen["sampled"] is sampled
    assert (found.sides, found.T, found.states) == (sides, 0.1 if sampled else None, STATES)
    assert seen["A"].tolist() == np.arange(64.0).reshape(8, 8)[:6].tolist()
    if sampled:
        assert seen["held"] == [3, 4]
    else:
        assert seen["rows"] == [1, 2] and seen["wanted"] == pytest.approx(wanted)


def test_what_still_moves_is_told_in_typical_sizes(seen):
    """0.3 MPa/s of 1 MPa; rates beyond the states do not count."""
    assert one(seen).residual == pytest.approx(0.3)
    assert one(seen, flow=(0.0, 0.0, -0.25, 0.0, 0.0, 0.125)).residual == pytest.approx(0.25)


def test_commands_that_no_reference_brings_there_are_no_equilibrium(seen):
    """The second command follows no reference: it stays at −0.25 V, a hair and a quarter off."""
    found = one(seen, (1, 1), G=((2.0, 1.0), (0.0, 0.0)), flow=(0.0,) * 6)
    assert found.residual == pytest.approx(0.25 + HAIR)


def test_a_fourth_valve_opens_to_the_upper_side(seen):
    loop, traced, jac = parts(count=4)
    commands = tuple(Signal(n, "V") for n in "abcd")
    loop.controller.commands = commands
    loop.states = tuple(Signal(f"{n}_held", "V") for n in "abcd")
    traced.jump = lambda t, x, w, c: w
    traced.flow = lambda t, x, w, c: np.zeros(4)
    loop.monitors = commands
    jac["jump"] = lambda *at: (None, np.eye(4))
    at = Rest(loop, traced, jac, "c", np.zeros(4), np.zeros(4))
    found = _one(at, [0, 1, 2, 3], (-1, 1, -1))
    assert found.sides == (-1, 1, -1, 1)
    assert seen["x"] == pytest.approx([-0.2 - HAIR, HAIR, -0.5 - HAIR, 0.1 + HAIR])


def test_a_loop_without_valves_stands_where_its_law_commands(seen):
    loop, traced, jac = parts(count=0)
    here = lambda: Rest(loop, traced, jac, "c", np.arange(1.0, 7.0), np.array([5.0, 1.0, 2.0]))
    found = _one(here(), [1, 2], ())
    wanted = [2.0 + 2.0 + 0.5, 8.0 - 0.25]
    assert seen["x"] == pytest.approx([1.0, 2.0, 3.0, *wanted, wanted[0]])
    assert seen["w"].tolist() == [5.0, 1.0, 2.0] and found.sides == ()
    loop.plant.just_shut = {"u": 4.5 + 0.5 * HAIR}
    with pytest.raises(InputError, match="u shuts its valves there"):
        _one(here(), [1, 2], ())
    loop.plant.just_shut = {"u": 4.5 + 2 * HAIR, "w": 4.5}
    _one(here(), [1, 2], ())


@pytest.mark.parametrize("steep", [np.inf, np.nan])
@pytest.mark.parametrize("sampled", [True, False])
def test_a_law_without_a_finite_slope_at_rest_is_not_linearised(seen, steep, sampled):
    """A root of an error has none where that is zero; the same law with finite slopes is linearised."""
    loop, traced, slopes = parts(sampled=sampled)
    steered = [1, 2]
    at = lambda slopes: Rest(loop, traced, slopes, "c", np.zeros(6), np.zeros(3))
    assert _one(at(slopes), steered, (1, 1)).A == "M"
    own = "jump" if sampled else "log"
    rows = np.full((6, 3), steep)
    with pytest.raises(InputError, match="no slope at rest: what the law commands"):
        told = {**slopes, own: lambda *_: (None, rows)}
        _one(at(told), steered, (1, 1))
