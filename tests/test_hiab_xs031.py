"""The shipped HIAB XS 031 parameters against the authors' published kinematics, without any plant code."""

from math import acos, atan2, cos, pi, radians, sin, sqrt
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

from workbench.contract.units import quantity

CRANE = YAML(typ="safe").load(
    (Path(__file__).parents[1] / "plants/parameters/hiab-xs031.yaml").read_text("utf-8")
)


def entries(node, path=""):
    """(path, leaf) of every tagged leaf."""
    if isinstance(node, dict) and "value" in node:
        yield path, node
    elif isinstance(node, (dict, list)):
        for key, item in node.items() if isinstance(node, dict) else enumerate(node):
            yield from entries(item, f"{path}.{key}")


def test_every_number_of_the_crane_says_where_it_comes_from():
    found = dict(entries(CRANE["plant"]))
    assert len(found) > 90
    for path, leaf in found.items():
        assert set(leaf) <= {"value", "tag", "source", "note"} and leaf["tag"] in "VDIA", path
        assert (leaf["source"] in CRANE["sources"]) if leaf["tag"] in "VD" else leaf["note"], path


def vector(node):
    return [quantity(x, "m") for x in node["value"]]


def pose(node, slide=0.0):
    """4×4 transform of a frame of the file, then `slide` along its x."""
    T = np.eye(4)
    T[:3, 3] = vector(node["r"])
    if "about_z" in node:
        T = T @ turned(quantity(node["about_z"]["value"], "rad"))
    if "R" in node:
        T[:3, :3] = np.array(node["R"]["value"]).reshape(3, 3)
    T[:3, 3] += slide * T[:3, 0]
    return T


def turned(angle):
    T = np.eye(4)
    T[:2, :2] = [[cos(angle), -sin(angle)], [sin(angle), cos(angle)]]
    return T


def tool(θ1, θ2, x_t):
    """Tool centre point by multiplying out the file's frames."""
    q = (
        -pi / 2 - atan2(374.261, 935) - atan2(45.757, 373.313) + θ1,
        θ2 - atan2(139.50, 1132.19) - atan2(88.061, 296.198),
    )
    plant = CRANE["plant"]
    T = pose(plant["base"])
    for structure, q_j in zip(plant["structures"], q):
        r = structure["revolute"]
        arms = [np.eye(4), np.eye(4)]
        arms[0][0, 3], arms[1][0, 3] = (quantity(r[key]["value"], "m") for key in ("L", "L1"))
        T = T @ arms[0] @ turned(q_j) @ arms[1] @ pose(r["end"])
    s = plant["structures"][1]["prismatic"]
    return (T @ pose(s["start"], x_t) @ pose(s["rod_end"]) @ pose(s["end"]))[:3, 3], q


def published_tool(θ1, θ2, x):
    """Forward kinematics as the crane's authors print it (six digits)."""
    k = -0.00152855 - 0.000928646 * x
    return (
        -0.189261
        + (1.99949 + x) * cos(θ1 + θ2)
        + (-0.100002 + k * cos(θ2)) * sin(θ1)
        + cos(θ1) * (1.59687 + k * sin(θ2))
        - 0.152638 * sin(θ1 + θ2),
        0.85
        + sin(θ1) * (1.59687 + (1.99949 + x) * cos(θ2) + (-0.154167 - 0.000928646 * x) * sin(θ2))
        + cos(θ1) * (0.100002 + (0.154167 + 0.000928646 * x) * cos(θ2) + (1.99949 + x) * sin(θ2)),
        -0.0092303,
    )


def test_the_cranes_tool_is_where_its_authors_put_it():
    rng = np.random.default_rng(11)
    for θ1, θ2, x_t in rng.uniform([-0.1, -1.6, 0.0], [1.5, -0.2, 1.1], (50, 3)):
        assert tool(θ1, θ2, x_t)[0] == pytest.approx(published_tool(θ1, θ2, x_t), abs=6e-6)
    assert [*tool(radians(45), radians(-90), 0.5)[1], 0.5] == pytest.approx(
        CRANE["plant"]["pose"]["value"], rel=1e-12
    )


@pytest.mark.parametrize("corner", [(2.5, 1.0), (3.0, 1.5), (3.5, 1.0), (3.0, 0.5)])
def test_the_cranes_path_lies_within_its_strokes(corner):
    """Two-link inverse kinematics at x_t = 0.5 m, checked by the authors' formula, then pin-to-pin lengths."""
    base, elbow, tip = (np.array(p[:2]) for p in joints())
    a, b = np.linalg.norm(elbow - base), np.linalg.norm(tip - elbow)
    target = np.array(corner) - base
    cosine = (target @ target - a * a - b * b) / (2 * a * b)
    assert abs(cosine) < 1
    bend, bend0 = -acos(cosine), angle(tip - elbow) - angle(elbow - base)
    θ2 = bend - bend0
    θ1 = angle(target) - atan2(b * sin(bend), a + b * cosine) - angle(elbow - base)
    assert published_tool(θ1, θ2, 0.5)[:2] == pytest.approx(corner, abs=2e-5)
    for structure, q in zip(CRANE["plant"]["structures"], tool(θ1, θ2, 0.5)[1]):
        r = structure["revolute"]
        L, L1, x0, s = (
            quantity(n["value"], "m") for n in (r["L"], r["L1"], r["x0"], r["cylinder"]["stroke"])
        )
        assert 0.05 < sqrt(L * L + L1 * L1 + 2 * L * L1 * cos(q)) - x0 < s - 0.05
        assert x0 + s < L + L1


def joints():
    """Main joint, tilt joint and tool at θ1 = θ2 = 0, x_t = 0.5, each found as a centre of turning of the tool."""
    shift = [np.array(published_tool(θ1, θ2, 0.5)) for θ1, θ2 in ((0, 0), (pi, 0), (0, pi))]
    return (shift[0] + shift[1]) / 2, (shift[0] + shift[2]) / 2, shift[0]


def angle(v):
    return atan2(v[1], v[0])
