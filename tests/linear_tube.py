"""A sampled linear loop as a certificate of three nodes, and its samples in closed form, off the origin.

    q̇ = r,  ṙ = −40 q − 3 r + u + d        a sample reads q, r, u and ϑ; its command v waits for the release, then u = v

Steps of the flow are matrix exponentials. The last two nodes repeat.
"""

import casadi as ca
import numpy as np
from scipy.linalg import expm

from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.programs import program

PUSH = 0.7  # d, all along
T, LAG = 0.05, 0.02
FINER = np.array([1, 2, 1])
SECTION = np.array([0, 1, 2, 4])
W = np.array([[3.0, PUSH], [-1.0, PUSH], [2.0, PUSH]])
SLACK = np.array([0.02, 0.0])
HALF = np.array([0.3, 0.0, 0.2, 0.0, 0.1])
FRESH = np.array([0.004, 0.03, 0.0, 0.0, 0.0])
NOTHING = np.zeros(5)
UNDRIVEN = np.zeros((5, 2))
SHIFT = np.array([0.2, -0.1, 0.0, 0.4, 0.0])  # of the start
X0 = np.array([1.5, -0.6, 0.8, 0.0, 0.35])
START, JUMP, RELEASE = np.eye(5), np.eye(5), np.eye(5)
START[1, 0] = 0.5
JUMP[3] = -25.0, -2.0, 0.1, 0.0, 2.0
RELEASE[2] = 0.0, 0.0, 0.0, 1.0, 0.0
FLOW = np.zeros((5, 5))
FLOW[0, 1] = 1.0
FLOW[1, :3] = -40.0, -3.0, 1.0


def affine(M, drives=UNDRIVEN, shift=NOTHING, clock=NOTHING):
    """The program t, x, w ↦ M x + drives w + shift + clock t, in which what is handed on is an input as it is."""
    t, x, w = ca.SX.sym("t"), ca.SX.sym("x", 5), ca.SX.sym("w", 2)
    whole = [(M, x), (drives, w), (shift[:, None], ca.SX(1.0)), (clock[:, None], t)]
    rows = []
    for i in range(5):
        terms = [
            v[j] if part[i, j] == 1 else part[i, j] * v[j]
            for part, v in whole
            for j in np.flatnonzero(part[i])
        ]
        rows.append(sum(terms[1:], terms[0]) if terms else ca.SX(0.0))
    return program(ca.Function("f", [t, x, w], [ca.vertcat(*rows)]), 5)


def driven(row, column):
    found = np.zeros((5, 2))
    found[row, column] = 1.0
    return found


def flowing(x, h):
    """(the state after h, its matrix) of the flow, exactly."""
    larger = np.zeros((6, 6))
    larger[:5, :5] = FLOW
    larger[1, 5] = PUSH
    whole = expm(larger * h)
    return whole[:5, :5] @ x + whole[:5, 5], whole[:5, :5]


def course(k, z):
    """[(state, matrix from the node's state)] before every stage of sample k and after the last."""
    x = np.zeros(5)
    x[SECTION] = z
    found = [(x, np.eye(5)), (JUMP @ x + W[k, 0] * np.eye(5)[3], JUMP)]
    for many, span in ((1 * FINER[k], LAG), (2 * FINER[k], T - LAG)):
        if span != LAG:
            found.append((RELEASE @ found[-1][0], RELEASE @ found[-1][1]))
        for _ in range(many):
            x, Φ = flowing(found[-1][0], span / many)
            found.append((x, Φ @ found[-1][1]))
    return found


def whole(k):
    """M of sample k, as the section sees it."""
    return course(k, np.zeros(4))[-1][1][np.ix_(SECTION, SECTION)]


def nodes():
    """Nodes on the run, but for a lap that misses where it began by a little."""
    z = [(START @ X0 + SHIFT)[SECTION]]
    for k in (0, 1):
        z.append(course(k, z[-1])[-1][0][SECTION])
    return np.array(z)


def tube(**other):
    """Wide enough for everything; its sets' own segments are those of the starts, as they come to each node."""
    z = nodes()
    prelude = program(ca.Function("g", [ca.SX.sym("p", 0)], [ca.SX(0, 1)]))
    out = ca.SX.sym("x", 5)
    told = ca.Function("out", [ca.SX.sym("t"), out, ca.SX.sym("w", 2)], [2 * out[0] - out[1]])
    given = {
        "prelude": prelude, "jump": affine(JUMP, driven(3, 0)), "release": affine(RELEASE),
        "flow": affine(FLOW, driven(1, 1)), "start": affine(START, shift=SHIFT), "out": program(told),
        "parameters": np.zeros(0), "states": 5, "section": SECTION, "T": T, "lag": LAG,
        "substeps": np.array([1, 2]), "finer": FINER, "order": 8, "z": z, "R": np.diag([0.5, 4.0, 8.0, 1.0]), "σ": 2.0,
        "reach": np.full((3, 9, 5), 50.0), "segments": np.zeros((3, 4, 3)),
        "balls": np.tile(np.diag([2.0, 5.0, 9.0, 0.01]), (3, 1, 1)),
        "w": W, "slack": 0 * SLACK, "after": np.array([1, 2, 1]),
        "splits": np.zeros((0, 3)), "paths": np.zeros((0, 0, 0, 0)),
        "x0": X0, "half": HALF, "fresh": NOTHING, "low": np.full(5, -np.inf), "high": np.full(5, np.inf),
        "least": np.full(1, -np.inf), "most": np.full(1, np.inf), "told": np.array(["e"]), "names": np.array(list("qruvϑ")),
    }  # fmt: skip
    return Tube(**given | other)


def box(G):
    return np.abs(G).sum(axis=1)


FIRST = (START @ np.diag(HALF))[np.ix_(SECTION, [0, 2, 4])]  # segments of the starts
