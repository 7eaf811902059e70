"""Small places of laws and valve circuits on numbers that are written down: commands step by step, dampers, roots, checks."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.gain_search import drawn, shown
from controllers.pid_tuning import linear
from controllers.vdc import commands, suited
from controllers.vdc.body_rows import BodyRows
from controllers.vdc.drives.metered_section import MeteredPart, settling
from plants.valve_circuits import inverse, uniqueness
from plants.valve_circuits.accounts.section import Flows, Section, drawn_in
from workbench.contract.errors import InputError


# ---- virtual decomposition -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("waits", [True, False])
def test_commands_on_the_way_from_the_true_state_to_the_drives(monkeypatch, waits):
    """What each of them is asked of: exact signals and memory of the law, then measurements and memory of the controller."""
    signal = lambda name: SimpleNamespace(name=name)
    asked = []

    def sought(memory, exact, references, **rate):
        asked.append((memory, exact, references, rate))
        return SimpleNamespace(u=f"sought {len(asked)}")

    def controller(name):
        answer = lambda t, memory, y, r: (name, t, memory, y, r)
        return SimpleNamespace(states=range(2), command=answer, name=name)

    own = controller("limited")
    monkeypatch.setattr(commands, "instant", lambda given: own)
    monkeypatch.setattr(
        commands,
        "unlimited",
        lambda law, waiting=False: controller(f"unlimited, {'waits' if waiting else 'at once'}"),
    )
    monkeypatch.setattr(commands, "waits", lambda law: waits and law.name.endswith("waits"))
    law = SimpleNamespace(
        references=range(2),
        states=range(3),
        measured=(signal("p"), signal("s")),
        labels=("1", "2"),
        sought=sought,
    )
    plant = SimpleNamespace(
        outputs=(signal("s"), signal("v"), signal("p")), states=range(2), out=lambda t, x: [*x, t]
    )
    loop = SimpleNamespace(controller=None)
    z, y, r = [10.0, 20.0, 30.0, 40.0], "y", [1.0, 2.0, 3.0]
    found = commands.steps(
        law, plant, loop, 0.5, ([7.0, 8.0, 9.0], z, y, r, [5.0, 6.0, 7.0]), "rate"
    )
    exact = ([10.0, 20.0, 30.0], [0.5, 7.0], [1.0, 2.0])
    assert asked == [(*exact, {"f_pr_rate": "rate"}), (*exact, {})]
    told = (0.5, [10.0, 20.0], y, r)
    expected = {
        "parameters": "sought 1", "derivative": "sought 2", "measurement": ("unlimited, at once", *told),
        "pump": ("unlimited, waits", *told), "saturation": ("limited", *told), "hold": [5.0, 6.0],
    }  # fmt: skip
    if not waits:
        del expected["pump"]
    assert found == expected and list(found) == list(expected)


def test_what_the_damping_of_a_joint_takes():
    """d Σ (ż_r − ż)², and d Σ (ż_r² + ż²) for its size; a joint without damping takes none."""
    bodies = [SimpleNamespace(damping=0.0), SimpleNamespace(damping=2.5)]
    machine = SimpleNamespace(bodies=bodies, tree=SimpleNamespace(v=[(0, 1), (1, 2)]))
    need = SimpleNamespace(rates=[9.0, 3.0, -2.0], at=SimpleNamespace(rates=[8.0, 1.0, 0.5]))
    own = SimpleNamespace(machine=machine)
    assert BodyRows._damped(own, need, 1) == pytest.approx(
        (2.5 * (4 + 6.25), 2.5 * (9 + 1 + 4 + 0.25))
    )
    assert BodyRows._damped(own, need, 0) == (0.0, 0.0)


def test_memory_of_a_metered_drive_after_a_sample(monkeypatch):
    """Of friction all but the last, which goes to f_pr/i with the time in which the drive settles."""
    asked = []
    friction = SimpleNamespace(after=lambda *given: asked.append(given) or ["a", "b"])
    part = SimpleNamespace(drive=SimpleNamespace(friction=friction, i=4.0))
    monkeypatch.setattr("controllers.vdc.drives.metered_section.settling", lambda drive: 0.2)
    found = MeteredPart.after(part, 0.05, 0.3, 8.0, [1.0, 2.0, 3.0], [5.0, 6.0, 7.0])
    assert asked == [(0.05, 0.3, [1.0, 2.0], [5.0, 6.0])] and found[:2] == ["a", "b"]
    assert found[2] == pytest.approx(2.0 + np.exp(-0.25)) and callable(settling)


@pytest.mark.parametrize(
    "n, unserved, structures, why",
    [
        (2, None, True, None),
        (0, None, True, "no machine"),
        (0, "drive", True, "drive"),
        (2, "drive", True, "drive"),
        (2, None, False, "loose"),
    ],
)
def test_why_a_law_cannot_serve_a_mechanism(monkeypatch, n, unserved, structures, why):
    monkeypatch.setattr(suited, "_unserved", lambda machine: unserved)
    monkeypatch.setattr(suited, "_no_machine", lambda model: "no machine")
    monkeypatch.setattr(suited, "_loose", lambda model: "loose")
    model = object.__new__(
        type("Plant", (suited.System,), dict.fromkeys(suited.System.__abstractmethods__))
    )
    for name, value in (("mechanism", object()), ("n", n), ("structures", structures)):
        monkeypatch.setattr(type(model), name, value, raising=False)
    assert suited.unfit(model) == why


# ---- gains ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "residual, stands", [(linear.STILL, True), (1.01 * linear.STILL, False), (np.nan, False)]
)
def test_a_loop_is_linear_where_it_stands_still(monkeypatch, residual, stands):
    """Of several sides of valves the one that moves most counts."""
    place = lambda off, sides: SimpleNamespace(residual=off, A="A", B="B", C="C", sides=sides)
    monkeypatch.setattr(linear, "linear_law", lambda loop, tangent: None)
    monkeypatch.setattr(
        linear, "linearised", lambda run: [place(residual, "in"), place(0.0, "out")]
    )
    monkeypatch.setattr(linear, "Scenario", lambda **given: given)
    monkeypatch.setattr(linear, "Run", lambda *given: given)
    monkeypatch.setattr(linear, "pose", lambda plant, at: at)
    loop = SimpleNamespace(period=0.002, plant=SimpleNamespace(cylinders=("one",)))
    if not stands:
        with pytest.raises(InputError, match="the start is no equilibrium"):
            linear.matrices(loop, {})
        return
    found = linear.matrices(loop, {})
    assert [one.T for one in found] == [0.002, 0.002] and [one.sides for one in found] == [
        "in",
        "out",
    ]


def test_a_search_is_told_as_a_table(monkeypatch):
    """A row of heads, then one a gain, with signs that HTML knows; the horizon by its name."""
    monkeypatch.setattr(drawn, "headed", lambda found: ("", "before", "chosen"))
    monkeypatch.setattr(drawn, "gain_rows", lambda found: [("K_p", "<1", "2"), ("K_i", "3", "4")])
    monkeypatch.setattr(drawn, "_picture", lambda found: "picture")
    text = drawn.as_html(SimpleNamespace(asked="delay & error"))
    assert text == (
        "<p>delay &amp; error</p><table><tr><td></td><td>before</td><td>chosen</td></tr>"
        "<tr><td>K_p</td><td>&lt;1</td><td>2</td></tr><tr><td>K_i</td><td>3</td><td>4</td></tr></table>picture"
    )
    assert shown._called("N") == "horizon" and shown._called("K_p") == "K_p"


# ---- valve circuits --------------------------------------------------------------------------------------------------------------
def test_suction_checks_let_in_what_a_chamber_at_the_tank_lacks():
    """Below 1e-6 of its own relief's pressure; never out."""
    row = [0.0, 0.0, 2e7, 1e7, 7.0]
    p_h = np.array([19.0, 21.0, 19.0])
    p_r = np.array([9.0, 11.0, 9.0])
    many = len(Flows._fields)
    flows = Flows(*[None] * many)._replace(
        Q_ho=np.array([-3.0, -3.0, 4.0]), Q_ro=np.array([-5.0, -5.0, 6.0])
    )
    section = Section(*[None] * len(Section._fields))._replace(row=row, P_h=p_h, P_r=p_r)
    head, rod = drawn_in(section, flows)
    assert head.tolist() == [3.0, 0.0, 0.0] and rod.tolist() == [5.0, 0.0, 0.0]


@pytest.mark.parametrize("u", [0.4, -0.7])
def test_the_velocity_of_a_command_is_what_its_valves_pass(monkeypatch, u):
    """A command opens the pump to one side and the tank to the other; nothing joins the chambers."""
    asked = {}

    def way(row, supply):
        asked["row"] = row
        return SimpleNamespace(σ=-1.0)

    monkeypatch.setattr(inverse.on_pump, "way", way)
    monkeypatch.setattr(inverse.on_pump, "fixed", lambda w, β, f: ("fixed", β, f))
    monkeypatch.setattr(inverse.on_pump, "moved", lambda w, fixed, β, P: (P + β, None))
    row = [1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0, 99.0]
    assert inverse.velocity(row, u, None, 0.5, 7.0, 2.0) == -2.5
    out, back = max(u, 0.0), max(-u, 0.0)
    assert asked["row"] == [1.0, 2.0, 3.0, 4.0, 10 * out, 20 * back, 30 * back, 40 * out, 0.0]


def test_roots_on_brackets_give_pressures_and_velocities(monkeypatch):
    """Flow Q − k √P − what is taken falls with P; where it does not at the relief, the relief is where it stays."""
    monkeypatch.setattr(
        uniqueness, "section", lambda row, P, a, b: (P / row[0] + a, P / row[1] + b)
    )
    monkeypatch.setattr(uniqueness, "pumped", lambda row, P, a, b, x, y: row[2] * P)
    rows = [[2.0, 4.0, 1e-10], [5.0, 8.0, 3e-10]]
    supply, β, f = [2e-3, 1.6e7, 1e-7], [0.5, 0.25], [3.0, -4.0]
    P, v, p = uniqueness.nested(rows, supply, β, f)
    assert 2e-3 - 1e-7 * np.sqrt(P) - 4e-10 * P == pytest.approx(0.0, abs=1e-15)
    for row, b, g, (x, y), moved in zip(rows, β, f, p, v):
        assert (x, y) == pytest.approx((P / row[0] - g / b, P / row[1] + 1 / b))
        assert moved == pytest.approx((row[0] * x - row[1] * y - g) / b)
    idle, _, _ = uniqueness.nested(rows, [1.0, 1.6e7, 1e-7], β, f)
    assert idle == 1.6e7
