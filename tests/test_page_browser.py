"""The page in a browser: nothing in its console, a machine that moves, scrubbing, clicks, keys, colours, accessibility."""

import json
import shutil
import socket
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_page import HOSTILE, a_content

from plants import machine
from reports import Content
from reports.page import page
from workbench.contract.system import Signal
from workbench.run.log import Log, Status

playwright = pytest.importorskip("playwright.sync_api", reason="pip install '.[browser]'")
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not CHROMIUM, reason="no chromium is installed (Debian's package chromium)"),
]
QUIET = ("--no-sandbox --enable-unsafe-swiftshader --disable-quic --no-first-run "
         "--disable-background-networking --disable-component-update --disable-sync").split()  # fmt: skip
STALL = "GPU stall due to ReadPixels"  # a driver's word on screenshots
ROOT = Path(__file__).parents[1]


def moving(plant, names, start, by, tip=None):
    """A log in which positions go evenly from the start by `by`."""
    t = np.linspace(0, 4, 401)
    columns = [s + d * t / 4 for s, d in zip(start, by)]
    values, own = np.stack(columns, 1), tuple(Signal(n, "m") for n in names)
    return Log(t, values, own, {}, Status(True, "completed", 4.0))


def contents():
    """Name → content, one of each kind of plant."""
    excavator, bars = machine("excavator").plant, machine("four-bar").plant
    ieha = machine("ieha-published-linear").plant
    z = [float(v) for v in excavator.assembly.z]
    names = [s.name for s in excavator.coordinates]
    base = a_content()
    logs = {
        "mechanism": (excavator, moving(excavator, names, z, [0.3, *([0.0] * (len(z) - 1))])),
        "four-bar": (bars, moving(bars, ["z_1"], [float(bars.z_10)], [0.3])),
        "actuator": (ieha, moving(ieha, ["Y"], [0.0], [0.02])),
    }
    made = {"crane": base}
    for name, (plant, log) in logs.items():
        made[name] = replace(base, title=name, plant=plant, log=log, analysis={})
    plain = moving(None, ["y", "y_d"], [0, 0], [1, 1.1])
    made["state space"] = Content("state space", "q", base.verdicts, plain)
    other = {"values": [], "deviates": [], "score": -0.1, "log": base.log}
    t = base.log.time
    curve = {
        "name": "tool_error",
        "unit": "m",
        "nominal": (t, 0 * t),
        "closest": (t, t),
        "edges": [1],
    }
    found = {"falsify": {"closest": {**other, "curves": [curve]}}}
    made["hostile"] = replace(
        base, title=HOSTILE, case_text=HOSTILE, analysis={**base.analysis, **found}
    )
    return made


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        running = p.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield running
        running.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Name → file of a page."""
    folder = tmp_path_factory.mktemp("pages")
    made = {name: folder / f"{name}.html" for name in contents()}
    for name, content in contents().items():
        made[name].write_text(page(content), "utf-8")
    return made


@pytest.fixture
def opened(browser, files):
    """opened(name, …) is a page in the browser whose console must stay empty."""
    said, pages = [], []

    def show(name, dark=False, width=1280, height=860, at=""):
        it = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        it.on(
            "console", lambda m: m.type == "error" and STALL not in m.text and said.append(m.text)
        )
        it.on("pageerror", lambda e: said.append(str(e)))
        it.on("request", lambda r: r.url.startswith("http") and said.append(f"asks {r.url}"))
        it.goto(files[name].as_uri() + at)
        pages.append(it)
        return it

    yield show
    for it in pages:
        it.close()
    assert not said


def settled(it):
    """The pixels of the machine once it is drawn."""
    it.evaluate("() => new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")
    return it.locator("#view canvas").screenshot()


def now(it) -> float:
    return float(it.locator("#time").input_value())


@pytest.mark.parametrize("name", ["crane", "mechanism", "four-bar", "actuator"])
@pytest.mark.parametrize("dark", [False, True])
def test_the_machine_moves(opened, name, dark):
    it = opened(name, dark)
    first = settled(it)
    it.locator("#time").focus()
    it.keyboard.press("End")
    assert now(it) > 3.9
    assert settled(it) != first
    it.keyboard.press("Home")
    assert settled(it) == first, "the same instant, the same picture"


def test_without_a_machine_there_are_plots(opened):
    it = opened("state space")
    assert it.locator("#stage").is_hidden() and it.locator(".plot canvas").count() > 0


def test_a_browser_without_webgl_draws_lines(browser, files):
    it = browser.new_page()
    it.add_init_script("HTMLCanvasElement.prototype.getContext = new Proxy("
                       "HTMLCanvasElement.prototype.getContext, {apply: (f, c, a) => "
                       "a[0].startsWith('webgl') ? null : Reflect.apply(f, c, a)})")  # fmt: skip
    it.goto(files["crane"].as_uri())
    first = settled(it)
    it.keyboard.press("End")
    assert settled(it) != first
    it.close()


def test_scrubbing_and_keys_go_along_the_run(opened):
    it = opened("crane", at="#t=2.5")
    assert now(it) == pytest.approx(2.5)
    over = it.locator(".plot .u-over").first
    box = over.bounding_box()
    it.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + 20)
    assert now(it) == pytest.approx(6.0, abs=0.05)
    it.keyboard.press("ArrowLeft")
    assert now(it) == pytest.approx(6.0 - 8 / 200, abs=0.05)
    it.keyboard.press("]")
    assert now(it) == pytest.approx(6.4)
    assert "6.40 seconds" in it.locator("#told").inner_text()
    it.keyboard.press("Home")
    it.keyboard.press(" ")
    for _ in range(2000):  # the page's policy lets nobody evaluate a condition inside it
        it.wait_for_timeout(10)
        if now(it) > 0.1:
            break
    it.keyboard.press(" ")
    stood = now(it)
    assert stood > 0.1 and now(it) == stood
    assert it.locator("#play").get_attribute("aria-label") == "play"


def test_a_click_on_a_verdict_goes_to_its_worst_instant(opened):
    it = opened("crane")
    it.locator(".jump").click()
    assert now(it) == pytest.approx(6.4)
    assert "now" in it.locator("tr:has(.jump)").get_attribute("class")
    log = contents()["crane"].log
    k = int(np.searchsorted(log.time, 6.4))
    shown = it.locator(".panel:has(h2:text('Pressures')) .key b").first.inner_text()
    value = float(shown.removesuffix(" bar"))
    assert value == pytest.approx(log.array("p_a1")[k] / 1e5, rel=1e-3)


def test_a_counter_example_moves_beside_the_run_and_can_be_hidden(opened):
    it = opened("hostile")
    both = settled(it)
    button = it.locator("#stage-tools button", has_text="counter-example")
    button.click()
    assert button.get_attribute("aria-pressed") == "false" and settled(it) != both


def test_names_stand_beside_bodies_and_cylinders_and_go_with_them(opened):
    it = opened("mechanism")
    settled(it)
    shown = it.locator(".names span")
    assert {"boom", "arm", "bucket"} <= set(shown.all_inner_texts())
    places = [label.bounding_box() for label in shown.all()]
    it.keyboard.press("End")
    settled(it)
    assert places != [label.bounding_box() for label in shown.all()]
    view = it.locator("#view").bounding_box()
    for box in (label.bounding_box() for label in shown.all()):
        assert view["x"] <= box["x"] and box["x"] + box["width"] <= view["x"] + view["width"] + 1
    it.locator("#stage-tools button", has_text="names").click()
    assert it.locator(".names").is_hidden()


def test_text_of_users_runs_nothing(opened):
    it = opened("hostile")
    assert it.locator("h1").inner_text() == HOSTILE and it.locator("img").count() == 0
    assert it.title() == HOSTILE


def test_light_and_dark(opened):
    it = opened("crane", dark=True)
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    dark = it.evaluate(paper)
    it.locator("#theme").click()
    assert it.evaluate(paper) != dark
    assert it.locator("#theme").get_attribute("aria-pressed") == "false"
    it.keyboard.press("d")
    assert it.evaluate(paper) == dark


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(opened, width):
    it = opened("crane", width=width, height=800)
    assert it.evaluate("document.documentElement.scrollWidth") <= width
    assert it.locator("#transport").is_visible() and it.locator("#view canvas").is_visible()


@pytest.mark.parametrize("name", ["crane", "state space", "hostile"])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(opened, name, dark):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="pip install '.[browser]'"
    )
    it = opened(name, dark)
    script = Path(axe.__file__).parent / "axe.min.js"
    it.evaluate(script.read_text("utf-8"))
    found = it.evaluate("axe.run(document)")["violations"]
    serious = [v for v in found if v["impact"] in ("serious", "critical")]
    assert not serious, json.dumps(
        [(v["id"], [n["html"] for n in v["nodes"]][:3]) for v in serious]
    )


def test_view_shows_errors_and_new_pages(browser, tmp_path):
    file = tmp_path / "case.yaml"
    good = (
        "plant: ieha-published-linear\ncontroller: {law: PID, K_p: 0.4}\nscenario: {duration: 0.5 s}\n"
        "claims: {tracking: true}\n"
    )
    file.write_text(good.replace("K_p", "K_x"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "workbench.commands.cli", "view", str(file)]
    server = subprocess.Popen([*command, "--port", str(port), "--no-browser"], cwd=ROOT,
                              stdout=subprocess.PIPE, text=True)  # fmt: skip
    try:
        assert f"127.0.0.1:{port}" in server.stdout.readline()
        it = browser.new_page()
        it.goto(f"http://127.0.0.1:{port}/")
        it.wait_for_selector("#trouble:not([hidden])", timeout=60_000)
        assert "K_x" in it.locator("#message").inner_text()
        file.write_text(good)
        it.wait_for_selector("#trouble", state="hidden", timeout=120_000)
        inner = it.frame_locator("#page")
        inner.locator("h1").wait_for(timeout=120_000)
        assert "IEHA" in inner.locator("h1").inner_text()
        it.close()
        server.send_signal(2)
        assert server.wait(timeout=60) == 0 and "ended" in server.stdout.read()
    finally:
        server.kill()
        server.wait()
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5)
