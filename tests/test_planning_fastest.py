"""Least time along a path: closed forms, an independent phase plane, steps in time as another program, bound, limits, refusals."""

import json
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from planning_cases import PATH, TRIANGLE, oil, random_crane, short, smaller, task

from plants.crane.planar import planar_crane
from workbench import InputError
from workbench.commands.cli import main
from workbench.planning import PlannedLoadSensing, Search, least_time, optimise, shortest_time
from workbench.planning.curve import Curve
from workbench.planning.dynamic import energy
from workbench.planning.fastest.bound import lower_bound
from workbench.planning.fastest.grid import through
from workbench.planning.phase_plane import fastest_along, spent
from workbench.planning.task import BIG
from workbench.planning.time_law import time_law
from workbench.planning.ways import Way
from workbench.run.reference import Waypoints
from workbench.run.spline import Spline

QUICK = (8, 12)


@pytest.fixture(scope="module")
def found():
    """The first edge of the reference case; the same with little flow; another under load sensing with too little pressure."""
    held = task(
        PlannedLoadSensing(),
        path=Waypoints("cartesian", ((2.4, 0.2), (3.2, 0.9)), 5.0),
        start=0.3,
        p_max=135e5,
    )
    return {
        "free": least_time(short(oil()), levels=QUICK),
        "flow": least_time(short(oil(), Q_max=5e-4), levels=QUICK[:1]),
        "pressure": least_time(held, levels=QUICK[:1]),
    }


# ---- along a curve ------------------------------------------------------------------------------------------------------
def along(L: float, v: float, a: float, n: int) -> float:
    """Least time of one cylinder over L, from rest to rest."""
    τ = np.linspace(0, 1, n + 1)
    dx, ddx, none = 6 * L * τ * (1 - τ), 6 * L * (1 - 2 * τ), np.zeros(n)

    def at(k, later):
        rows = [
            (none, (dx[k] / v) ** 2, none + 1),
            (dx[k] / a, ddx[k] / a, none + 1),
            (-dx[k] / a, -ddx[k] / a, none + 1),
        ]
        made = np.stack([np.stack(row, 1) for row in rows], 1)
        made[:, :, 0] += later * 2 / n * made[:, :, 1]
        return made

    Δ = np.full(n, 1 / n)
    rows = np.concatenate([at(slice(0, n), 0.0), at(slice(1, n + 1), 1.0)], axis=1)
    return float(spent(fastest_along(rows, Δ), Δ).sum())


@pytest.mark.parametrize(
    "L, v, a", [(0.7, 0.13, 0.21), (0.05, 0.4, 0.3)], ids=["trapezoid", "triangle"]
)
def test_one_cylinder_takes_the_time_of_its_trapezoid(L, v, a):
    exact = L / v + v / a if L > v * v / a else 2 * np.sqrt(L / a)
    assert along(L, v, a, 800) == pytest.approx(exact, rel=2e-4)


def test_a_resting_extension_takes_the_time_of_the_classical_phase_plane():
    """Forwards and backwards in ṡ² over the length, a thousand steps a metre; slopes by differences of the crane's pistons."""
    t = task(oil(), path=Waypoints("cartesian", ((2.6, 0.3), (3.5, 1.2)), 5.0), start=0.6)
    way = Way(t.path)
    law = time_law(Curve(t, way, np.ones(1), np.full(401, 0.6), np.zeros(401)))
    L, n, h = way.lengths[0], 4000, 1e-4
    s = np.linspace(0, L, n + 1)
    place = lambda s: np.stack(
        t.crane.pistons(t.crane.joints([2.6 + 0.9 * s / L, 0.3 + 0.9 * s / L], 0.6))[:2]
    )
    dx, ddx = (
        (place(s + h) - place(s - h)) / (2 * h),
        (place(s + h) - 2 * place(s) + place(s - h)) / h**2,
    )
    v, a = np.array([[0.1], [0.1]]), np.array([[0.2], [0.2]])
    most = ((v / dx) ** 2).min(axis=0)

    def swept(sign, order):
        e = np.zeros(n + 1)
        for k, then in zip(order, order[1:]):
            high = ((np.sign(dx[:, k]) * sign * a[:, 0] - ddx[:, k] * e[k]) / dx[:, k] * sign).min()
            e[then] = min(max(e[k] + 2 * high * L / n, 1e-9), most[then])
        return e

    e = np.minimum(swept(1, list(range(n + 1))), swept(-1, list(range(n, -1, -1))))
    e[0] = e[-1] = 0.0
    T = float((2 * L / n / (np.sqrt(e[1:]) + np.sqrt(e[:-1]))).sum())
    assert law.time == pytest.approx(T, rel=2e-3)


def test_a_way_is_the_path_without_its_time():
    spline = Spline(
        "cartesian", (0.0, 2.0, 5.0, 7.0), ((2.5, 0.4), (2.8, 0.7), (3.3, 0.9), (3.6, 0.8))
    )
    for path, edges in (
        (spline, 1),
        (PATH, 3),
        (Waypoints("cartesian", TRIANGLE, 3.0, dwell=1.5), 3),
    ):
        way = Way(path)
        assert len(way.edges) == edges
        τ, e, h = np.linspace(0.1, 0.9, 23), np.repeat(edges - 1, 23), 1e-4
        r, up, down = (way.sample(e, τ + d) for d in (0.0, h, -h))
        np.testing.assert_allclose((up[0] - down[0]) / (2 * h), r[1], atol=1e-5)
        np.testing.assert_allclose((up[1] - down[1]) / (2 * h), r[2], atol=1e-4)
        near = path.sample(np.linspace(0, path.duration, 20001), 0)[0]
        assert max(np.hypot(*(near - p).T).min() for p in r[0]) < 1e-3
        ends = way.sample(np.array([0, edges - 1]), np.array([0.0, 1.0]))[0]
        np.testing.assert_allclose(
            ends, path.sample(np.array([0.0, path.duration]), 0)[0], atol=1e-9
        )


# ---- the motion of least time -------------------------------------------------------------------------------------------
def in_time(t, q, s, T):
    """Least time in equal steps in time, by IPOPT from the nodes (q, s): only means of speed and acceleration over the steps are
    limited, which no motion within the limits passes; so the least is no more than that of any motion."""
    (x0, y0), (x1, y1), n = *t.path.points, len(q) - 1
    Q, S, δ = ca.MX.sym("Q", n + 1), ca.MX.sym("S", n + 1), ca.MX.sym("T")
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    joints = t.crane.joints([x0 + (x1 - x0) * b, y0 + (y1 - y0) * b], a)
    found = ca.Function(
        "x", [a, b], [ca.vertcat(*t.crane.pistons(joints), joints[0], joints[1])]
    ).map(n + 1)(Q.T, S.T)
    move = found[:3, 1:] - found[:3, :-1]
    push = ca.horzcat(
        2 * move[:, 0], move[:, 1:] - move[:, :-1], -2 * move[:, -1]
    )  # at rest at both ends
    v, a = (ca.DM([getattr(c, name) for c in t.crane.cylinders]) for name in ("v_max", "a_max"))
    speeds, pushes = move / ca.repmat(v * δ / n, 1, n), push / ca.repmat(a * (δ / n) ** 2, 1, n + 1)
    low, high = np.r_[np.zeros(2 * n + 2), 0.1], np.r_[np.full(n + 1, 1.04), np.ones(n + 1), 60.0]
    low[0] = high[0] = t.start
    high[n + 1], low[2 * n + 1] = 0.0, 1.0
    asked = ca.vertcat(*map(ca.vec, (speeds, pushes, found[3:, :])))
    solver = ca.nlpsol(
        "in_time",
        "ipopt",
        {"x": ca.vertcat(Q, S, δ), "f": δ, "g": asked},
        {"ipopt": {"print_level": 0, "sb": "yes", "max_iter": 500}, "print_time": False},
    )
    turns = [np.tile([t.ranges[0][side], t.ranges[1][side]], n + 1) for side in (0, 1)]
    one = np.ones(6 * n + 3)
    made = solver(
        x0=np.r_[q, s, T], lbx=low, ubx=high, lbg=np.r_[-one, turns[0]], ubg=np.r_[one, turns[1]]
    )
    assert solver.stats()["success"]
    return float(made["f"])


@pytest.mark.long
def test_steps_in_time_take_as_long(found):
    """Another program, from a straight start that knows nothing of ours."""
    one = found["free"]
    best = in_time(one.task, np.linspace(0.0, 0.8, 61), np.linspace(0.0, 1.0, 61), 8.0)
    assert 0.975 * one.time < best < one.time


@pytest.mark.long
def test_no_limit_is_passed_and_one_is_always_used(found):
    for one in found.values():
        assert max(u.share for u in one.used) <= 1 + 1e-9
        t, shares = one.law.shares
        most = np.max([s for name, s in shares.items() if not name.startswith("joint")], axis=0)
        assert np.mean(most > 0.99) > 0.6
    for name, least in (("flow", 0.999), ("pressure", 0.95)):
        assert {u.name: u.share for u in found[name].used}[f"pump {name}"] > least
    assert found["flow"].time > 1.2 * found["free"].time


@pytest.mark.long
def test_the_limits_hold_as_the_other_planners_count_them(found):
    """The motion in equal steps: mean speeds, their changes, flow and joints as `Task` has them, strokes and reach."""
    for one in found.values():
        t = one.plan.task
        loose = smaller(t.crane)
        loose = replace(
            t.crane,
            cylinders=tuple(
                replace(c, v_max=c.v_max * (1 + 1e-6), a_max=c.a_max * (1 + 1e-6))
                for c in loose.cylinders
            ),
        )
        Q_max = None if t.Q_max is None else t.Q_max * (1 + 1e-6)
        assert energy(replace(t, crane=loose, p_max=None, Q_max=Q_max), one.plan.q_3) < BIG
        hasty = replace(
            loose, cylinders=tuple(replace(c, a_max=0.8 * c.a_max) for c in loose.cylinders)
        )
        assert energy(replace(t, crane=hasty, p_max=None, Q_max=Q_max), one.plan.q_3) >= BIG


@pytest.mark.long
def test_the_pressure_is_that_of_the_cranes_forces(found):
    """Speeds and accelerations of the extension by differences in time, forces by the crane itself."""
    one, rng, h = found["pressure"], np.random.default_rng(4), 1e-4
    t, law = one.task, one.law
    k = rng.integers(1, len(law.times) - 2, 300)
    k = k[np.diff(law.times)[k] > 4 * h]
    at = (law.times[k] + law.times[k + 1]) / 2
    q = [law.extension(at + d) for d in (-h, 0.0, h)]
    r = law.tip(at)
    joints, rates, pushes = t.crane.motion(
        *([p[:, 0], p[:, 1]] for p in r),
        q[1],
        (q[2] - q[0]) / (2 * h),
        (q[2] - 2 * q[1] + q[0]) / h**2,
    )
    v = [lever * rate for lever, rate in zip(t.crane.levers(joints), rates)]
    p = t.supply.pressure(v, t.crane.forces(joints, rates, pushes), t.step.areas)
    assert len(at) > 100 and p.max() < 1.001 * t.p_max
    assert p.max() == pytest.approx(
        {u.name: u.share for u in one.used}["pump pressure"] * t.p_max, rel=0.01
    )


def test_a_limit_tightened_afterwards_is_told(found):
    """The planted fault: by how much, and where."""
    one = found["free"]
    crane = one.task.crane
    c = crane.cylinders
    tight = replace(
        one.task,
        crane=replace(crane, cylinders=(c[0], replace(c[1], v_max=0.9 * c[1].v_max), c[2])),
    )
    told = {u.name: u for u in one.law.used(tight)}
    assert (
        told["speed 1"].share == pytest.approx(1 / 0.9, rel=1e-6)
        and told["speed 0"].share <= 1 + 1e-9
    )
    t = np.array([told["speed 1"].t - 1e-3, told["speed 1"].t + 1e-3])
    x = [
        crane.pistons(crane.joints(list(r), q))[1]
        for r, q in zip(one.law.tip(t)[0], one.law.extension(t))
    ]
    assert abs(x[1] - x[0]) / 2e-3 > 0.95 * c[1].v_max
    assert {
        u.name: u.share
        for u in one.law.used(replace(one.task, p_max=60e5, supply=PlannedLoadSensing()))
    }["pump pressure"] > 1.2


def test_the_own_time_law_as_a_whole_is_slower(found):
    """And so is the time that is proposed where the law is too fast."""
    one = found["free"]
    with pytest.raises(InputError, match="take ") as why:
        optimise(
            replace(one.task, path=Waypoints("cartesian", TRIANGLE[:2], 3.0)),
            Search(nodes=61, tube=17),
        )
    proposed = float(str(why.value).split("take ")[1].split(" s ")[0])
    assert proposed > one.time and shortest_time(found["flow"].task) > found["flow"].time


@pytest.mark.long
def test_corners_are_at_rest_and_the_extension_ends_where_it_shall():
    t = task(
        oil(),
        path=Waypoints("cartesian", ((2.4, 0.3), (2.9, 0.7), (2.9, 0.3)), 1.0),
        start=0.1,
        end=0.15,
    )
    one = least_time(t, levels=(6, 8))
    k = np.arange(0, len(one.law.times), one.law.curve.n)
    corners = one.law.tip(one.law.times[k])
    np.testing.assert_allclose(corners[0], t.path.points, atol=1e-6)
    np.testing.assert_allclose(corners[1], 0.0, atol=1e-9)
    assert one.law.extension(one.law.times[[0, -1]]) == pytest.approx([0.1, 0.15], abs=1e-9)
    assert one.bound < one.time and one.plan.q_3[-1] == pytest.approx(0.15, abs=1e-9)


# ---- the bound ----------------------------------------------------------------------------------------------------------
def test_the_bound_is_below_and_not_far(found):
    for one in found.values():
        assert 0.75 * one.time < one.bound < one.time
    slow = replace(found["free"].task, crane=smaller(planar_crane(), v_max=0.05))
    assert lower_bound(slow, Way(slow.path), 6, 260) > found["free"].bound


@pytest.mark.long
@pytest.mark.parametrize("seed", [1])
def test_no_curve_of_a_random_crane_is_faster_than_the_bound(seed):
    crane, rng = random_crane(seed), np.random.default_rng(seed)
    q = [0.6 * a + 0.4 * b for a, b in crane.joint_range()]
    x, y = map(float, crane.tip(q))
    t = task(
        oil(),
        crane=crane,
        start=q[2],
        path=Waypoints("cartesian", ((x, y), (x + 0.2, y - 0.12)), 1.0),
    )
    way = Way(t.path)
    bound = lower_bound(t, way, 6, 260)
    best = min(
        time_law(through(t, way, q[2] + np.r_[0.0, np.cumsum(rng.normal(0, 6e-3, 16))], 60)).time
        for _ in range(10)
    )
    one = least_time(t, levels=QUICK)
    assert 0 < bound < one.time <= best + 1e-9


# ---- what cannot be done, and the command -------------------------------------------------------------------------------
FILE = """\
crane: hiab-reduced
objective: time
path: {points: [[2.3 m, 0.2 m], [2600 mm, 0.6]]}
supply: {type: LoadSensing, margin: 15 bar}
"""


def run(tmp_path, text, *options) -> int:
    file = tmp_path / "case.yaml"
    file.write_text(text, "utf-8")
    return main(["plan", str(file), *options])


@pytest.mark.parametrize(
    "change, words",
    [
        (("[2600 mm, 0.6]", "[9 m, 0.6]"), ("case.yaml", "outside the workspace", "q_2 would be")),
        (
            ("supply:", "limits: {pressure: 20 bar}\nsupply:"),
            ("no motion exists, however slow", "limits.pressure", "20 bar"),
        ),
        (("supply:", "start: 2 m\nsupply:"), ("start", "outside 0 … 1.04 m")),
        (("objective: time", "objective: tme"), ("line 2", "objective", "time")),
        (("supply:", "limits: {flow: 0 l/min}\nsupply:"), ("line 4", "flow")),
    ],
)
def test_bad_files_say_what_to_do(tmp_path, capsys, change, words):
    assert run(tmp_path, FILE.replace(*change), "--csv", str(tmp_path / "no.csv")) == 3
    said = capsys.readouterr().err
    assert all(word in said for word in words), said
    assert "mend:" in said and not (tmp_path / "no.csv").exists()


def test_an_acceleration_limit_of_zero_is_refused():
    with pytest.raises(ValueError, match="a_max: 0 m/s.*greater than zero"):
        smaller(planar_crane(), a_max=0.0)


@pytest.mark.long
def test_the_command_says_bracket_and_limits_and_writes_a_reference(tmp_path, capsys):
    out = {name: tmp_path / f"plan.{name}" for name in ("csv", "json", "pdf")}
    assert (
        run(
            tmp_path,
            FILE,
            "--csv",
            str(out["csv"]),
            "--json",
            str(out["json"]),
            "--report",
            str(out["pdf"]),
        )
        == 0
    )
    said, packed = capsys.readouterr().out, json.loads(out["json"].read_text("utf-8"))
    for word in (
        "least time",
        "bracket: no motion takes less than",
        "own time law, as a whole",
        "saturated",
    ):
        assert word in said
    assert packed["bound"] < packed["time"] < packed["motions"][2]["time"]
    made = Spline.from_csv(out["csv"], "cartesian")
    assert made.duration == pytest.approx(packed["time"]) and len(made.values[0]) == 3
    assert made.values[-1][:2] == pytest.approx((2.6, 0.6)) and out["pdf"].read_bytes().startswith(
        b"%PDF"
    )
