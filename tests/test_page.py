"""The page: one file that asks for nothing, safe against any text, with every peak of the run and the worst instants."""

import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from test_report import PLANT, VDC, a_log

from plants import machine
from reports import Content, write_report
from reports.page import page
from reports.page.document import HERE, LARGEST, digest
from reports.page.embedded import unpacked
from reports.page.machines import machine3
from reports.page.panels import PANELS
from reports.page.panels.panel import Curve, Plot
from reports.page.plots import BUCKETS, described
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.verification.verdict import Verdict

HOSTILE = "</script><img src=x onerror=alert(1)>"
INSIDE = re.compile(r"https?://(?!www\.w3\.org/)[^\s\"']*")  # names of namespaces are no addresses


class Elements(HTMLParser):
    """Elements of a page: (tag, attributes), and the text of each script."""

    def __init__(self, text):
        super().__init__()
        self.found, self.scripts, self.styles, self._at = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self._at = tag
        if tag in ("script", "style"):
            {"script": self.scripts, "style": self.styles}[tag].append("")

    def handle_endtag(self, tag):
        self._at = ""

    def handle_data(self, data):
        if self._at in ("script", "style"):
            {"script": self.scripts, "style": self.styles}[self._at][-1] += data


def tracking(instant, claim="tool error ≤ 5 mm"):
    return Verdict("tracking", claim, True, "sampled", 2e-3, "m", 5e-3, "3 mm", instant=instant)


def a_content(title="test crane", claim="tool error ≤ 5 mm", text="plant: test\n", log=None):
    t = np.linspace(0, 8, 4001)
    ledger = {"t": t, "v": 1e-3 + np.sin(t) ** 2, "v_bound": 2.0 + 0 * t}
    return Content(
        title,
        "Is it stable?",
        (tracking(6.4, claim),),
        log or a_log(),
        text,
        PLANT,
        VDC(),
        analysis={"ledger": ledger},
    )


@pytest.fixture(scope="module")
def made():
    return page(a_content())


@pytest.fixture(scope="module")
def shown(made):
    """What the scripts of the page are given."""
    return json.loads(Elements(made).scripts[0])


# ---- one file -----------------------------------------------------------------------------------------------------------
def test_it_is_one_file_that_asks_for_nothing(made):
    elements = Elements(made)
    for tag, given in elements.found:
        assert "src" not in given, tag
        assert not given.get("href", "#").startswith(("http", "/")), tag
    outside = set(INSIDE.findall(made)) - {"https://github.com/leeoniya/uPlot"}  # of its licence
    assert not outside
    assert "@import" not in made and not re.search(r"url\((?!data:)", elements.styles[0])
    assert len(made.encode()) < LARGEST


def test_its_policy_names_what_it_runs_and_nothing_else(made):
    elements = Elements(made)
    given = next(g for t, g in elements.found if t == "meta" and "http-equiv" in g)["content"]
    rules = {rule.split()[0]: rule.split()[1:] for rule in given.split(";")}
    assert rules["default-src"] == ["'none'"] and "connect-src" not in rules
    assert rules["script-src"] == [digest(text) for text in elements.scripts[1:]]
    assert rules["style-src"] == [digest(elements.styles[0])]


def test_text_of_users_stays_text():
    hostile = a_content(HOSTILE, HOSTILE, HOSTILE)
    log = a_log()
    named = tuple(s if s.name != "e_tcp_x" else Signal(f"e_{HOSTILE}", s.unit) for s in log.signals)
    log = Log(log.time, log.values, named, {}, log.status)
    sound = Elements(page(a_content()))
    elements = Elements(page(Content(**{**vars(hostile), "log": log})))
    assert [tag for tag, _ in elements.found] == [tag for tag, _ in sound.found]
    assert all(not name.startswith("on") for _, given in elements.found for name in given)
    told = json.loads(elements.scripts[0])
    assert told["marks"] == [[6.4, HOSTILE, "holds"]]
    assert any(HOSTILE in p["title"] for panel in told["panels"] for p in panel["plots"])
    assert HOSTILE not in page(hostile)


def test_what_is_from_others_is_as_it_was_made():
    lines = (HERE / "vendor" / "SHA256SUMS").read_text().splitlines()
    sums = {name: known for known, name in (line.split() for line in lines)}
    for name, known in sums.items():
        assert hashlib.sha256((HERE / "vendor" / name).read_bytes()).hexdigest() == known, name
    used = {path.name for path in (HERE / "vendor").iterdir()}
    assert used == {*sums, "SHA256SUMS", "make.sh", "package.json", "three.entry.js"}
    assert {n for n in sums if n.startswith("LICENSE")} == {
        f"LICENSE.{n}" for n in ("three", "uplot", "inter", "libertinus")
    }


def test_a_report_called_html_is_a_page(tmp_path, made):
    write_report(tmp_path / "report.html", a_content())
    assert (tmp_path / "report.html").read_text("utf-8") == made
    assert not any(word in made.lower() for word in ("nan,", "infinity,")), "no JSON"


# ---- the data -----------------------------------------------------------------------------------------------------------
def test_no_peak_is_lost():
    rng = np.random.default_rng(5)
    t = np.linspace(0, 30, 40_001)
    y = np.cumsum(rng.normal(size=t.size))
    y[23_456] += 1e3  # one sample
    z = -y[::-1]
    plot = described(Plot("noise", "bar", t, [Curve("a", y), Curve("b", z)]), [])
    times, a, b = (unpacked(text) for text in (plot["t"], *(c["y"] for c in plot["curves"])))
    assert len(times) <= 4 * BUCKETS + 4 and plot["of"] == len(t)
    for own, drawn in ((y, a), (z, b)):
        for k in (own.argmax(), own.argmin()):
            at = np.flatnonzero(np.isclose(times, t[k], rtol=1e-6))
            assert np.float32(own[k]) in drawn[at]
    k = np.searchsorted(t, times.astype(float)).clip(0, len(t) - 1)
    near = np.abs(t[np.clip(k - 1, 0, None)] - times) < np.abs(t[k] - times)
    assert np.array_equal(np.float32(y[np.where(near, k - 1, k)]), a), "values are the log's"


def test_what_is_no_number_is_a_gap_and_what_ran_away_too():
    t = np.arange(9.0)
    y = np.array([1, np.nan, 2, np.inf, 1e200, 3, -4, 5, 0])
    plain = unpacked(described(Plot("p", "m", t, [Curve("y", y)]), [])["curves"][0]["y"])
    assert np.isnan(plain).tolist() == [False, True, False, True, True, *4 * [False]]
    log = unpacked(described(Plot("p", "m", t, [Curve("y", y)], log=True), [])["curves"][0]["y"])
    assert np.isnan(log).tolist() == [False, True, False, True, True, False, True, False, True]


def test_every_instant_that_verdicts_name_is_drawn(shown):
    plots = [p for panel in shown["panels"] for p in panel["plots"]]
    assert plots and shown["marks"] == [[6.4, "tool error ≤ 5 mm", "holds"]]
    for times in (*(p["t"] for p in plots), shown["scene"]["runs"][0]["t"]):
        assert np.abs(unpacked(times) - 6.4).min() < 1e-5


def test_a_verdict_that_names_no_instant_has_no_button(made):
    assert made.count('class="jump"') == 1
    none = page(Content("t", "q", (tracking(None),), a_log(), plant=PLANT, controller=VDC()))
    assert 'class="jump"' not in none


def test_panels_show_what_the_log_has(shown):
    names = [panel["name"] for panel in shown["panels"]]
    assert names == [p.name for p in PANELS if p.name in names]
    assert {"Tracking", "Accompanying function", "Pressures", "Commands and valves"} <= set(names)
    assert "Piston forces" in names
    assert len({p.name for p in PANELS}) == len(PANELS)


def test_a_plant_that_looks_like_nothing_has_plots_alone():
    t = np.linspace(0, 1, 50)
    columns = np.stack([t, t**2], 1)
    log = Log(t, columns, (Signal("y", "1"), Signal("y_d", "1")), {}, Status(True, "completed", 1))
    told = json.loads(Elements(page(Content("t", "q", (), log))).scripts[0])
    assert told["scene"] is None and told["panels"][0]["plots"][0]["title"] == "y"
    assert json.loads(Elements(page(Content("t", "q"))).scripts[0])["panels"] == []


# ---- machines in space --------------------------------------------------------------------------------------------------
def a_run(drawn_names, start, moved=0.05):
    """A log of positions that drift from the start."""
    t = np.linspace(0, 1, 5)
    values = np.asarray(start) + moved * t[:, None] * np.ones(len(start))
    return Log(t, values, tuple(Signal(n, "rad") for n in drawn_names), {}, Status(True, "", 1.0))


def test_a_crane_s_cylinders_are_as_long_as_its_equations_say():
    drawn = machine3(PLANT, a_log())
    for q in ([-1.3, 0.4], [-1.1, 0.9]):
        pose = drawn.at(q)
        a, b = pose.ends[0]
        length = float(PLANT.structures[0].revolute.length(q[0]))
        assert np.linalg.norm(b - a) == pytest.approx(length, rel=1e-12)
        assert pose.tip == pytest.approx(np.array(PLANT.tool(q), float))
        assert len(pose.frames) == len(drawn.solids) == 4


def test_a_mechanism_s_cylinders_are_as_long_as_its_drives_say():
    plant = machine("excavator").plant
    drawn = machine3(plant, a_run([], []))
    z = [float(v) for v in plant.assembly.z]
    still = [0.0] * plant.tree.n_v
    pulls = plant.pulls(plant.moving(z, still), z, still, None, None)
    lengths = [np.linalg.norm(b - a) for a, b in drawn.at(z).ends]
    assert lengths == pytest.approx([float(p.s) for p in pulls], rel=1e-12)
    assert [r.name for r in drawn.rams] == ["boom", "arm", "bucket"]
    assert drawn.axis == pytest.approx((0, 0, 1)) and drawn.up == pytest.approx((0, 1, 0))


def test_what_is_known_in_the_plane_keeps_its_shape_in_space():
    plant = machine("four-bar").plant
    drawn = machine3(plant, a_run([], []))
    own = [np.linalg.norm(s.points[1] - s.points[0]) for s in drawn.solids]
    assert own == pytest.approx([plant.L_1, plant.L_2, plant.L_3])
    for angle in (float(plant.z_10), float(plant.z_10) + 0.2):
        pose = drawn.at([angle])
        places = [r + s.points @ R.T for s, (r, R) in zip(drawn.solids, pose.frames)]
        crank, coupler, rocker = places
        assert crank[1] == pytest.approx(coupler[0]) and coupler[1] == pytest.approx(rocker[0])
        assert rocker[1] == pytest.approx([plant.L_0, 0, 0])


def test_an_actuator_pushes_its_load():
    plant = machine("ieha-published-linear").plant
    drawn = machine3(plant, a_run(["Y"], [0.0]))
    far, near = drawn.at([0.02]), drawn.at([0.0])
    moved = pytest.approx([0.02, 0, 0])
    assert far.ends[0][0] == pytest.approx(near.ends[0][0]), "the mount stands"
    assert far.ends[0][1] - near.ends[0][1] == moved
    assert far.frames[0][0] - near.frames[0][0] == moved
    assert drawn.view == "side"
