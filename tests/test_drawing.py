"""`workbench draw`: what is drawn, what cannot be, and labels that do not lie on each other."""

import itertools
import os
import re
from dataclasses import replace

import numpy as np
import pytest
from spatial_linkages import plate
from test_pins import TEXT, read

from plants.multibody.reach import placed, ranges, tool_points
from plants.multibody.strokes import beside, strokes
from reports.drawing import SIZE, draw_on
from reports.outline import picture
from reports.outline_mechanism import directions
from workbench.cases.file import loads
from workbench.commands import cli
from workbench.contract.errors import Faults
from workbench.contract.system import Signal
from workbench.run.log import Log
from workbench.run.status import Status


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "boom.yaml").write_text(TEXT, "utf-8")
    return tmp_path


def shown(machine, title="boom"):
    """(axes of the machine, its texts that are not empty, renderer)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fig = Figure(figsize=SIZE, dpi=100)
    FigureCanvasAgg(fig)
    draw_on(fig, machine, title)
    ax = fig.axes[0]
    return fig, [t for t in ax.texts if t.get_text()], fig.canvas.get_renderer()


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_machine_is_drawn_to_a_file(folder, capsys, kind):
    assert cli.main(["draw", "boom.yaml", "-o", f"boom.{kind}"]) == 0
    assert f"drawn: boom.{kind}" in capsys.readouterr().out
    head = (folder / f"boom.{kind}").read_bytes()[:200]
    assert (b"<?xml" in head) if kind == "svg" else head.startswith(b"\x89PNG")


def test_names_of_bodies_pins_cylinders_and_angles_are_written():
    fig, texts, _ = shown(read())
    said = " | ".join(t.get_text() for t in texts)
    for name in ("boom", "crank", "link", "bucket", "foot", "rod", "teeth", "heel", "far · eye"):
        assert name in said, name
    machine = read()
    s = machine.out(0.0, machine.initial())[0]
    assert f"lift {s:.3f} m" in said and "boom ∠ 25.0°" in said
    table = " | ".join(t.get_text() for t in fig.texts)
    assert "0.800 … 1.300 m" in table and "0.500 m" in table and "teeth reaches" in table


def test_labels_do_not_lie_on_each_other():
    _, texts, renderer = shown(read())
    boxes = [t.get_window_extent(renderer) for t in texts]
    for (a, p), (b, q) in itertools.combinations(zip(texts, boxes), 2):
        assert not p.overlaps(q), f"{a.get_text()} lies on {b.get_text()}"


def test_the_reach_is_that_of_the_strokes():
    """The tool at the ends of both strokes is a point of the reach, and nothing lies farther from the foot than it can be."""
    machine = read()
    points = tool_points(machine)
    lift, tilt = strokes(machine)
    start = np.array(machine.assembly.z)
    for i, j in itertools.product((0, -1), (0, -1)):
        z = np.array(lift.positions[i]) + np.array(tilt.positions[j]) - start
        motion = machine.moving(list(z), [0.0] * len(z))
        R = np.array(motion.R[3], float).reshape(3, 3)
        tip = np.array(motion.r[3], float) + R @ machine.tcp.point
        assert np.linalg.norm(points - tip, axis=1).min() < 1e-9
    farthest = 2.3 + np.hypot(0.6, 0.3)
    assert np.hypot(*(points[:, :2] - (0.1, 0.6)).T).max() < farthest
    known = ranges(machine)
    assert known["q_boom"] == pytest.approx((lift.positions[0][0], lift.positions[-1][0]))


def test_cylinders_side_by_side_are_one_motion():
    """A second lift beside the first leaves the boom's range as it is, so the tool reaches no farther."""
    one = read()
    lift = next(a for a in one.actuators if a.name == "lift")
    two = replace(one, actuators=(*one.actuators, replace(lift, name="twin")))
    for end in (np.min, np.max):
        assert end(tool_points(two), 0) == pytest.approx(end(tool_points(one), 0), abs=1e-6)


def test_without_a_display_it_says_where_it_wrote(folder, capsys, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    assert cli.main(["draw", "boom.yaml"]) == 0
    said = capsys.readouterr().out
    path = said.split("drawn: ")[1].strip()
    assert "no display" in said and os.path.dirname(path) == str(folder)
    assert os.path.getsize(path) > 1000


def test_a_display_that_opens_no_window_is_no_display(folder, capsys, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    assert cli.main(["draw", "boom.yaml"]) == 0
    assert "no display" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["ieha-control"], "a IEHA has no shape to draw"),
        (["boom.yaml", "-o", "boom.jpg"], "a drawing is written as .svg or .png"),
        (["boom.yaml", "-o", "boom.yaml"], "would overwrite the machine's file"),
        (["bom.yaml"], "bom.yaml: there is no such file"),
    ],
)
def test_what_cannot_be_drawn_is_said(folder, capsys, given, words):
    assert cli.main(["draw", *given]) == 3
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("name", ["four-bar", "hiab-xs031"])
def test_other_shipped_machines_are_drawn_too(folder, name):
    assert cli.main(["draw", name, "-o", "it.svg"]) == 0
    assert (folder / "it.svg").stat().st_size > 5000


def test_a_machine_in_space_is_seen_with_x_to_the_right():
    """Whichever way is up, the first axis across it goes to the right, and up goes up."""
    for gravity, up in (((0.0, -9.81, 0.0), 1), ((0.0, 0.0, -9.81), 2)):
        view = directions(plate(gravity=gravity))
        assert view[0, 0] > 0.5 and view[up, 1] > 0.5
        assert view.T @ view == pytest.approx(np.eye(2))


def test_a_machine_seen_from_above_has_x_to_the_right_and_y_up():
    flat = SLIDES.format(gravity=[0, 0, -9.81], case=[0, 0, 0], axis=[1, 0, 0])
    flat = flat.replace("joint: prismatic, axis: [1, 0, 0], ", "").replace(
        "between: [ground.case, slide.rod], drive: Force, shortest: 0.5 m, longest: 0.9 m",
        "joint: slide, drive: Torque",
    )
    flat = flat.replace("mass: 85 kg, start: 0.7 m", "mass: 85 kg, I_zz: 2")
    assert directions(loads(flat).plant) == pytest.approx(np.array([[1, 0], [0, 1], [0, 0]]))


@pytest.mark.parametrize("name", ("boom " * 40, "x" * 300, "short"))
def test_headings_stay_on_the_page(name):
    """In smaller letters where a name is long, and cut where those would be too small to read."""
    fig, _, _ = shown(read(), name.strip())
    assert max(t.get_window_extent().x1 for t in fig.texts) < fig.bbox.x1
    title = fig.texts[0].get_text()
    assert title == name if name == "short" else title.endswith("…") and len(title) > 90


@pytest.mark.filterwarnings("error")
def test_a_machine_that_is_a_point_is_drawn():
    text = "plant: {type: Mechanism, bodies: {drum: {mass: 9 kg, I_zz: 2}}, actuators: {turn: {joint: drum, drive: Torque}}}"
    fig, texts, _ = shown(loads(text).plant)
    low, high = fig.axes[0].get_xlim()
    assert high > low and any("drum" in t.get_text() for t in texts)


SLIDES = """
plant:
  type: Mechanism
  method: minimal
  gravity: {gravity}
  pins: {{case: {case}}}
  bodies:
    slide: {{joint: prismatic, axis: {axis}, pins: {{rod: [0, 0, 0]}}, mass: 85 kg, start: 0.7 m}}
  actuators:
    push: {{between: [ground.case, slide.rod], drive: Force, shortest: 0.5 m, longest: 0.9 m}}
  tcp: slide.rod
"""


@pytest.mark.parametrize("axis", ([1, 0, 0], [0, 1, 0], [0.6, 0.8, 0], [0, 0, 1]))
@pytest.mark.parametrize("gravity", ([0, -9.81, 0], [0, 0, -9.81]))
def test_a_slide_is_drawn_as_long_as_it_is_and_as_steep(axis, gravity):
    """A slide lies in the plane of the drawing, whichever way it and gravity point: nothing of its length is lost."""
    machine = loads(SLIDES.format(gravity=gravity, case=[0, 0, 0], axis=axis)).plant
    view = directions(machine)
    along = np.array(axis) @ view
    up = -np.array(gravity) / 9.81
    assert np.hypot(*along) == pytest.approx(1.0)
    assert along[1] == pytest.approx(up @ axis) and (up @ view)[1] == pytest.approx(1.0)


TURNED = SLIDES.replace(
    "  bodies:\n",
    "  bodies:\n    post: {{axis: [0, 1, 0], pins: {{way: [0, 0, 0]}}, mass: 10 kg, inertia: [1, 1, 1, 0, 0, 0]}}\n",
).replace("slide: {{joint", "slide: {{at: post.way, joint")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SLIDES, "rod reaches 0.50 … 0.90 m across, 0.00 … 0.00 m up"),
        (TURNED, "rod reaches x 0.50 … 0.90 m over the strokes"),
    ],
)
def test_a_reach_is_told_along_axes_and_not_along_an_oblique_view(text, said):
    machine = loads(text.format(gravity=[0, -9.81, 0], case=[0, 0, 0], axis=[1, 0, 0])).plant
    fig, _, _ = shown(machine)
    assert any(said in t.get_text() for t in fig.texts)


def test_what_does_not_fit_stays_on_the_page():
    """Two dead points in one stroke are named beside the drawing, within its edge."""
    with pytest.raises(Faults) as why:
        read(("shortest: 1.02, longest: 1.2}", "shortest: 0.3, longest: 1.9}"))
    fig, _, renderer = shown(why.value.machine)
    (row,) = (t for t in fig.texts if "dead point" in t.get_text())
    assert row.get_text().count(" m") == 2
    assert row.get_window_extent(renderer).x1 < fig.bbox.x1


SHORT = ("shortest: 0.8 m, longest: 1.3 m", "shortest: 1.2 m, longest: 1.5 m")
LONG = ("longest: 1.2}", "longest: 1.9}")


def test_what_does_not_fit_is_drawn_and_all_of_it_is_said(folder, capsys):
    """A lift that is too long for its start and a tilt with too long a stroke: both are named, with what would do, and drawn."""
    (folder / "boom.yaml").write_text(TEXT.replace(*SHORT).replace(*LONG), "utf-8")
    assert cli.main(["draw", "boom.yaml", "-o", "boom.svg"]) == 3
    said = capsys.readouterr()
    assert os.path.getsize(folder / "boom.svg") > 1000
    assert "plant.actuators.lift: measures" in said.err
    assert "mend: start boom between" in said.err
    assert "plant.actuators.tilt: its stroke, 1.02 … 1.9 m, passes a dead point" in said.err


def test_the_start_that_is_advised_fits():
    with pytest.raises(Faults) as why:
        read(SHORT)
    (fault,) = why.value.each
    low, high = map(float, re.search(r"between (-?\d+) and (-?\d+) deg", fault.mend).groups())
    for angle in (low + 1, high - 1):
        read(SHORT, ("start: 25 deg", f"start: {angle} deg"))


def test_a_loop_that_stays_open_is_drawn_open(folder, capsys):
    (folder / "boom.yaml").write_text(TEXT.replace("far: [0.7, 0]", "far: [3.7, 0]"), "utf-8")
    assert cli.main(["draw", "boom.yaml", "-o", "boom.svg"]) == 3
    assert "cannot be closed" in capsys.readouterr().err
    assert os.path.getsize(folder / "boom.svg") > 1000


ZBAR = """
plant:
  type: Mechanism
  method: minimal
  pins: {arm: [0, 1.55], lift: [0.15, 0.95], tilt: [0.10, 1.75]}
  bodies:
    arm: {at: ground.arm, pins: {rod: [1.15, -0.15], bell: [1.45, 0.20], tip: [2.45, 0]}, mass: 900, com: [1.2, 0], I_zz: 600,
          start: -25 deg}
    bell: {at: arm.bell, pins: {top: [0.10, 0.60], bottom: [0.05, -0.50]}, mass: 160, I_zz: 15, start: 18 deg}
    link: {at: bell.bottom, pins: {ear: [0.75, 0]}, mass: 40, com: [0.37, 0], I_zz: 2, start: 23 deg}
    bucket: {at: arm.tip, pins: {ear: [-0.10, 0.32], edge: [1.1, -0.15]}, mass: 900, com: [0.5, 0.15], I_zz: 200, start: 26 deg}
  loops: {eye: {between: [link.ear, bucket.ear]}}
  actuators:
    lift: {between: [ground.lift, arm.rod], drive: Force, shortest: 0.75 m, longest: 1.35 m}
    tilt: {between: [ground.tilt, bell.top], drive: Force, shortest: 1.1 m, longest: 1.6 m}
  tcp: bucket.edge
"""


def test_the_reach_of_cylinders_that_share_joints_has_an_area():
    """Both cylinders of a Z-bar between their ends reach a place that neither reaches alone, and it is in the reach."""
    machine = loads(ZBAR).plant
    lift, _ = strokes(machine)
    far = np.array(beside(machine, "tilt", lift.positions[-1]))
    edges = placed(machine, far, machine.tcp)
    alone = placed(machine, np.array(lift.positions), machine.tcp)
    points = tool_points(machine)
    farther = [np.linalg.norm(alone - edge, axis=1).min() for edge in edges]
    assert max(farther) > 0.3
    assert max(np.linalg.norm(points - edge, axis=1).min() for edge in edges) < 0.03


FAULTY = TEXT.replace("shortest: 0.8 m", "shotrest: 0.8 m").replace("mass: 14 kg", "mass: heavy")


def test_all_that_a_file_says_wrongly_is_listed():
    with pytest.raises(Faults) as why:
        loads(FAULTY, "boom.yaml")
    said = str(why.value)
    assert "'shotrest'" in said and "plant.bodies.crank.mass" in said and said.count("mend:") == 2


@pytest.mark.parametrize("gravity", ([0, -9.81, 0], [0, 0, -9.81]))
def test_the_path_of_a_tool_is_drawn_where_the_tool_is(gravity):
    """Also of a machine that is seen obliquely, from above, or with z upwards."""
    machine = loads(TURNED.format(gravity=gravity, case=[0, 0, 0], axis=[1, 0, 0])).plant
    drawn = picture(machine)
    q = [0.3, 0.8]
    values = np.array([[*q, *machine.tool(q)]])
    signals = tuple(Signal(name, "1") for name in (*drawn.names, "tcp_x", "tcp_y", "tcp_z"))
    log = Log(np.zeros(1), values, signals, {}, Status(True, "", 0.0))
    assert drawn.tool(log)[0] == pytest.approx(drawn.at(q).tip)
