"""Drawings and moving pictures: what is drawn is where the machine is, frame by frame; refusals."""

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from mechanisms import bricard, four_bar, hydraulic, random_tree, slider_crank
from scipy.spatial import ConvexHull

from plants import LinearActuator, machine
from reports import animation, outline, outline_mechanism, sketch, style
from workbench import InputError, Log, Scenario, Signal, simulate
from workbench.commands.cli import main
from workbench.run.log import Status

Image = pytest.importorskip("PIL.Image")
PAPER = machine("four-bar").plant


def cranked(n=31, span=6.0, status=None, plant=PAPER):
    """A log in which the crank swings, made up."""
    t = np.linspace(0.0, span, n)
    z = 1.0 - 0.2 * np.sin(t)
    return Log(
        t, z[:, None], (Signal("z_1", "rad"),), {}, status or Status(True, "completed", span)
    )


def strokes(shape, kind):
    return [s.points for s in shape.strokes if s.kind == kind]


def areas(shape):
    return [
        0.5 * abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1)))
        for x, y in (p.T for p in strokes(shape, "plate"))
    ]


# ---- outlines ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("z_1", (0.5, 1.1, 1.9))
def test_bars_are_as_long_as_they_are(z_1):
    shape = outline.picture(PAPER).at([z_1])
    assert [np.linalg.norm(b - a) for a, b in strokes(shape, "link")] == pytest.approx(
        [2.0, 8.0, 5.0]
    )
    (rod,), (case,) = strokes(shape, "rod"), strokes(shape, "case")
    assert np.linalg.norm(rod[1] - rod[0]) == pytest.approx(PAPER.length(z_1))
    assert (
        np.linalg.norm(case[1] - rod[0]) < PAPER.circuit.range[0]
    )  # the case is shorter than the retracted cylinder


@pytest.mark.parametrize("method", ("projected", "minimal"))
def test_a_mechanism_is_drawn_where_the_four_bar_is(method):
    """The same bars from another text, at the poses of a run in which they fall."""
    plant = four_bar(method=method, actuators=())
    log = simulate(plant, Scenario(0.5, log_period=0.1))
    drawn, own = outline.picture(plant), outline.picture(PAPER)
    assert drawn.drawn == ("x, m", "y, m") and np.ptp(log.array("q_crank")) > 0.05
    for q, z_1 in zip(drawn.positions(log), log.array("q_crank")):
        bars = strokes(drawn.at(q), "link")
        for bar, mine in zip(bars, strokes(own.at([z_1]), "link")):
            assert np.allclose(np.sort(bar, 0), np.sort(mine, 0), atol=1e-9)


def test_actuators_of_mechanisms_are_as_long_as_they_are():
    plant = hydraulic()
    shape = outline.picture(plant).at(plant.assembly.z)
    (rod,), (case,) = strokes(shape, "rod"), strokes(shape, "case")
    assert (
        np.linalg.norm(rod[1] - rod[0]) == pytest.approx(3**0.5)
        and np.linalg.norm(case[1] - rod[0]) < 1.3
    )
    loose = outline.picture(four_bar()).at(plant.assembly.z)
    assert strokes(loose, "rod") and not strokes(loose, "case")  # nothing is known of its case


@pytest.mark.parametrize("seed", range(4))
def test_hull_against_qhull(seed):
    points = np.random.default_rng(seed).normal(size=(9, 2))
    found, truth = outline_mechanism._hull(points), ConvexHull(points)
    assert set(found) == set(truth.vertices) and len(found) == len(truth.vertices)
    x, y = points[found].T
    assert 0.5 * abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))) == pytest.approx(truth.volume)


def test_hull_of_points_in_line_or_all_the_same():
    line = np.array([0.3, 1.1]) + np.outer([0.2, 0.9, -0.4, 0.5], [0.7, -0.2])
    assert sorted(outline_mechanism._hull(line)) == [1, 2]
    assert len(outline_mechanism._hull(np.ones((3, 2)))) == 1


def test_rigid_bodies_stay_rigid():
    from workbench.cases.file import load

    plant = load("examples/excavator-boom.yaml").plant
    drawn = outline.picture(plant)
    z = np.array(drawn.start)
    before = areas(drawn.at(z))
    assert len(before) >= 3 and min(before) > 1e-3
    assert areas(drawn.at(z + [0.3, -0.2, 0.5, 0.1])) == pytest.approx(before)


@pytest.mark.parametrize(
    "plant",
    (slider_crank(), bricard(), random_tree(3), random_tree(8, 4)),
    ids=("slider", "loop", "3", "8"),
)
def test_spatial_mechanisms_are_seen_upright_and_undistorted(plant):
    view, words = outline_mechanism._view(plant, plant.assembly.z)
    assert view.T @ view == pytest.approx(np.eye(2), abs=1e-12)
    up = -np.array(plant.gravity) @ view
    assert up[1] > 0 and abs(up[0]) < 1e-9 * up[1]
    with style.drawing():
        assert sketch.machine(plant) is not None


def test_a_mechanism_seen_from_above_when_gravity_is_along_its_axes():
    view, words = outline_mechanism._view(
        four_bar(gravity=(0.0, 0.0, -9.81)), four_bar().assembly.z
    )
    assert sorted(words) == ["x, m", "y, m"] or sorted(w.strip("−") for w in words) == [
        "x, m",
        "y, m",
    ]


def test_what_looks_like_nothing_is_not_drawn():
    assert outline.picture(LinearActuator()) is None and sketch.machine(LinearActuator()) is None


# ---- films ------------------------------------------------------------------------------------------------------------
def test_gif_has_the_frames_and_takes_the_time_of_the_run():
    made = animation.film(outline.picture(PAPER), cranked(61, 6.0), 0.1, width=160)
    image = Image.open(io.BytesIO(animation.gif(made)))
    assert image.n_frames == 61 and image.info["loop"] == 0 and image.size == made.pixels
    times, seen = 0, []
    for k in range(image.n_frames):
        image.seek(k)
        times += image.info["duration"] if k else 0
        seen.append(np.array(image.convert("L"), int))
    assert times == 6000 and made.speed == 1.0
    machine_of = lambda k: seen[k][: -int(animation.BAR)]
    assert (machine_of(0) != machine_of(15)).any()
    assert np.abs(machine_of(0) - machine_of(60)).max() > 0  # it does not end where it began


@pytest.mark.parametrize("k", (0, 7, 30))
def test_pins_are_painted_where_they_are(k):
    made = animation.film(outline.picture(PAPER), cranked(31, 3.0), 0.1)
    image = np.array(animation._frame(made, k))
    for x, y in made.frames[k].pins:
        assert (image[int(y), int(x)] > 200).all()  # white within its ring
    A, E = made.frames[k].pins[[0, 3]]
    size = (E[0] - A[0]) / 10.0
    assert (made.frames[k].pins - A) / [size, -size] == pytest.approx(
        outline.picture(PAPER).at([1.0 - 0.2 * np.sin(0.1 * k)]).pins
    )


def test_svg_moves_through_the_same_places():
    made = animation.film(outline.picture(PAPER), cranked(31, 3.0), 0.1)
    root = ET.fromstring(animation.svg(made))
    paths = root.findall("{*}path")
    moving = [p.find("{*}animate") for p in paths if p.find("{*}animate") is not None]
    assert len(moving) >= 5 and {m.get("dur") for m in moving} == {"3.000s"}
    assert {m.get("repeatCount") for m in moving} == {"indefinite"}
    numbers = lambda d: np.array(re.findall(r"-?\d+\.\d", d), float)
    (bars,) = [p for p in paths if p.get("stroke") == sketch.STYLES["link"][0]]
    values = bars.find("{*}animate").get("values").split(";")
    assert (
        len(values) == len(made.frames) and len({re.sub(r"[\d.-]+", "", v) for v in values}) == 1
    )  # so they can be blended
    for value, frame in zip(values, made.frames):
        links = np.concatenate([s.points.ravel() for s in frame.strokes if s.kind == "link"])
        assert numbers(value) == pytest.approx(links, abs=0.051)


def test_long_runs_go_faster_and_say_so():
    made = animation.film(outline.picture(PAPER), cranked(301, 30.0), 0.1)
    assert made.speed == 2.0 and made.seconds == 15.0 and len(made.frames) == 151
    assert "30 s, × 2" in animation.svg(made).decode()
    assert animation.film(
        outline.picture(PAPER), cranked(), 0.1, speed=3.0
    ).seconds == pytest.approx(2.0)


def test_what_ran_away_is_left_out():
    log = cranked(31, 3.0, Status(False, "diverged", 3.0))
    z = log.values.copy()
    z[20:] = [[1e9]] * 5 + [[np.nan]] * 6
    made = animation.film(outline.picture(PAPER), replace(log, values=z), 0.1)
    assert made.t[-1] == pytest.approx(1.9) and np.isfinite(made.frames[-1].pins).all()


@pytest.mark.parametrize("kind", (".gif", ".svg"))
def test_the_crane_and_the_path_of_its_tool(kind, tmp_path):
    crane = machine("hiab-xs031").plant
    q = np.array(crane.initial()[: crane.n])
    t = np.linspace(0.0, 1.0, 21)
    values = q + np.outer(np.sin(t), [0.1, -0.2, 0.05])
    tool = np.array([crane.tool(list(row))[:2] for row in values], float)
    columns = (
        *(Signal(n, "1") for n in crane.joint_names),
        Signal("tcp_x", "m"),
        Signal("tcp_y", "m"),
    )
    log = Log(t, np.hstack([values, tool]), columns, {}, Status(True, "completed", 1.0))
    drawn = outline.picture(crane)
    for row, at in zip(values, tool):
        assert drawn.at(row).tip == pytest.approx(at, abs=1e-12)
    animation.animate(tmp_path / f"crane{kind}", crane, log)
    made = animation.film(drawn, log, 0.1)
    assert made.path[-1] == pytest.approx(made.frames[-1].tip)
    assert 1000 < (tmp_path / f"crane{kind}").stat().st_size < 100_000


def test_refusals(tmp_path):
    log = cranked()
    for path, plant, run, words in (
        ("a.mp4", PAPER, log, "a .gif or .svg, not .mp4"),
        ("a", PAPER, log, "file without ending"),
        ("a.gif", LinearActuator(), log, "no bodies that could be drawn"),
        ("a.gif", machine("hiab-xs031").plant, log, "'q_1' is not in it"),
        ("a.svg", PAPER, log.window(0.0, 0.0), "too short to move"),
        ("no/a.svg", PAPER, log, "no such directory"),
    ):
        with pytest.raises(InputError, match=words):
            animation.animate(tmp_path / path, plant, run)
    for given in ({"width": 10}, {"speed": 0.0}, {"speed": float("nan")}):
        with pytest.raises(InputError, match="at least 64 pixels"):
            animation.film(outline.picture(PAPER), log, 0.1, **given)
    assert not list(tmp_path.iterdir())


def test_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    short = (
        "plant: {machine: four-bar}\ncontroller: OpenLoop\nloop: {sample_time: continuous}\n"
        "scenario: {duration: 0.3 s, disturbances: {U_ref: 5 V}}\n"
    )
    (tmp_path / "bars.yaml").write_text(short, encoding="utf-8")
    assert (
        main(["simulate", "bars.yaml", "--animation", "bars.gif"]) == 0
        and "bars.gif" in capsys.readouterr().out
    )
    assert Image.open("bars.gif").n_frames == 4
    assert main(["simulate", "bars.yaml", "--animation", "bars.avi", "--log", "run.nc"]) == 3
    assert "a .gif or .svg" in capsys.readouterr().err and not (tmp_path / "run.nc").exists()
    assert (
        main(["simulate", "ieha-control", "--animation", "x.svg"]) == 3
        and "no bodies" in capsys.readouterr().err
    )
    assert (
        main(["simulate", "bars.yaml", "--animation", "bars.yaml"]) == 3
        and "overwrite" in capsys.readouterr().err
    )
