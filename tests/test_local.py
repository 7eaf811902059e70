"""The loop linearised at rest: against brute force, against the continuous law, against machines changed for real."""

from dataclasses import replace

import numpy as np
import pytest
from ledger_cases import CRANE, LEAKY, REAL, RUBBED, continuous, noisy, sampled, valves
from mechanisms import EVERY

from controllers import PID, OpenLoop
from controllers.vdc import VDC
from plants import MeteredTwin
from workbench import ClosedLoop, Delayed, Quantised, Sampled, Scenario
from workbench.verification import claims as C
from workbench.verification.linear import local, local_claim
from workbench.verification.linear.local import linearised
from workbench.verification.linear.local_claim import check_linear
from workbench.verification.linear.margins import Margins
from workbench.verification.linear.stability import stability
from workbench.verification.run import run

TWIN = MeteredTwin()  # the same with oil that can be compressed
METERED = replace(EVERY["metered section"](), method="minimal")  # its valves are just shut


def still(loop, **scenario):
    """A run of a few samples: the local analysis needs its start only."""
    return run(loop, Scenario(**{"duration": 5e-3} | scenario), compiled=False)


def verdict(loop, **scenario):
    return check_linear(C.Linear(), still(loop, **scenario))


def least_margin(loop):
    """1 − ρ (or −max Re λ) over all combinations of valve sides."""
    return min(stability(m.A, m.T).spectrum.margin for m in linearised(still(loop)))


def late(plant, delay, T_s=1e-3):
    return ClosedLoop(plant, Delayed(Sampled(VDC(model=plant), T_s), delay, capacity=12))


# ---- against brute force --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "loop",
    [
        sampled(CRANE),
        sampled(REAL),
        late(CRANE, 1.7e-3),
        late(CRANE, 2e-3),
        sampled(CRANE, derivative="dirty"),
    ],
    ids=["ideal", "spools", "fractional delay", "whole delay", "dirty derivative"],
)
def test_the_sample_map_against_finite_differences_of_its_integration(loop, monkeypatch):
    """Central differences of jump, flow (RK4, fine steps), release, flow; opened by a millivolt so that no side changes."""
    kept, right = [], local.monodromy
    monkeypatch.setattr(local, "HAIR", 1e-3)
    monkeypatch.setattr(local, "monodromy", lambda *a: kept.append((a, right(*a))) or kept[-1][1])
    linearised(still(loop))
    (at, _), (M, _, _) = kept[0]
    traced, c, w, state = at.traced, at.constants, at.w, at.state
    x = np.where(
        ["_queue" in s for s in state], 1e-3, at.x
    )  # open to the same side, whenever they reach the valve
    S = local._sizes(loop.states)
    larger = {
        "p": 1e2,
        "f": 1e3,
    }  # pressures, and filtered forces, whose differences would else be rounding
    step = (
        1e-9
        * S
        * np.array([larger.get(s[0], 1.0) if s.startswith(("p_", "f_pr")) else 1.0 for s in state])
    )
    brute = np.column_stack(
        [
            (sample_map(loop, traced, x + d, w, c) - sample_map(loop, traced, x - d, w, c))
            / (2 * d.max())
            for d in np.diag(step)
        ]
    )
    scaled, found = brute / S[:, None] * S, M / S[:, None] * S
    assert (np.abs(found - scaled) <= 1e-5 * np.abs(scaled).max(axis=0).clip(1.0)).all()
    for a in np.linalg.eigvals(scaled):
        assert np.abs(np.linalg.eigvals(found) - a).min() < 2e-2


def sample_map(loop, traced, x, w, c):
    call = lambda f, x: np.array(getattr(traced, f)(0.0, x, w, c)).ravel()[: len(x)]
    x = call("jump", x)
    for span in (loop.lag, loop.period - loop.lag):
        for _ in range(n := 20 if span > 0 else 0):
            h = span / n
            k1 = call("flow", x)
            k2 = call("flow", x + h / 2 * k1)
            k3 = call("flow", x + h / 2 * k2)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + call("flow", x + h * k3))
        if span == loop.lag > 0:
            x = call("release", x)
    return x


@pytest.mark.parametrize(
    "loop", [sampled(CRANE), sampled(REAL), continuous(CRANE), continuous(REAL), late(REAL, 1.3e-3)]
)
def test_only_neutral_modes_are_taken_out(loop, monkeypatch):
    """Eigenvalues with and without the pressures' common mode agree but for one neutral one a cylinder."""
    whole, right = [], local._deflate
    monkeypatch.setattr(local, "_deflate", lambda m, *a: whole.append(m) or right(m, *a))
    for full, less in zip(whole, linearised(still(loop))):
        neutral = 0.0 if full.T is None else 1.0
        S = local._sizes(loop.states)
        a, b = np.linalg.eigvals(full.A / S[:, None] * S), np.linalg.eigvals(less.A)
        size = max(1.0, np.abs(b).max())
        assert less.deflated == 2 and len(a) == len(b) + 2 and less.residual < 1e-3
        for λ in b:
            k = np.argmin(np.abs(a - λ))
            assert abs(a[k] - λ) < 1e-5 * size
            a = np.delete(a, k)
        assert np.abs(a - neutral).max() < 1e-5


def test_sampling_ever_faster_gives_the_continuous_law():
    slow = lambda s: np.sort_complex(s[np.abs(s) < 30])
    exact = slow(np.linalg.eigvals(linearised(still(continuous(CRANE)))[0].A))
    gaps = []
    for T in (1e-3, 2.5e-4):
        m = linearised(still(sampled(CRANE, T_s=T)))[0]
        z = np.linalg.eigvals(m.A).astype(complex)
        gaps.append(np.abs(slow(np.log(z[np.abs(z) > 1e-9]) / T) - exact).max())
    assert len(exact) >= 2 and gaps[1] < 1e-2 and gaps[1] < gaps[0] / 3


# ---- against machines changed for real ------------------------------------------------------------------------------
def stronger(factor):
    """The crane whose first valve passes `factor` times what the controller thinks."""

    def change(valve):
        return replace(
            valve, **{f"c_{k}": factor * getattr(valve, f"c_{k}") for k in ("p1", "n1", "p2", "n2")}
        )

    s = REAL.structures[0]
    r = replace(
        s.revolute, cylinder=replace(s.revolute.cylinder, valve=change(s.revolute.cylinder.valve))
    )
    return replace(REAL, structures=(replace(s, revolute=r), REAL.structures[1]))


def rings(loop, seconds=2.0):
    """Whether a small push is followed by an oscillation that does not die: rms of p_a1 late against early."""
    r = run(loop, Scenario(duration=seconds, offset={"p_a1": 2e4}), compiled=False)
    f = r.log.array("f_p1") - r.log.array("f_p1")[-1]
    n = len(f) // 8
    return np.ptp(f[-n:]) > 0.3 * np.ptp(f[:n])


def test_the_gain_margin_is_where_a_stronger_valve_destabilises():
    found = verdict(sampled(REAL))
    k = found.data["margins"][0]["gain_up"]
    assert 1.2 < k < 3
    for factor, stable in ((0.96 * k, True), (1.04 * k, False)):
        loop = sampled(stronger(factor), VDC(model=REAL))
        assert (least_margin(loop) > 0) is stable
        assert rings(loop) is not stable


def test_delays_on_both_sides_of_the_edge():
    """All commands late together: the edge is below the smallest one-at-a-time margin, and simulation agrees."""
    edge = min(row["delay"] for row in verdict(sampled(CRANE)).data["margins"])
    assert 8e-3 < edge < 12e-3
    for share, stable in ((0.9, True), (1.1, False)):
        loop = late(CRANE, share * edge)
        assert (least_margin(loop) > 0) is stable
        assert rings(loop, 4.0) is not stable
    assert verdict(late(CRANE, 1.1 * edge)).holds is False


def test_a_sample_time_too_long_is_unstable_and_a_gain_too_high_too():
    assert verdict(sampled(CRANE, T_s=20e-3)).holds is False
    assert verdict(sampled(CRANE, k_x=(6e-2,), βk_f=(3000.0,))).holds is False
    assert verdict(sampled(CRANE)).holds is True and verdict(continuous(CRANE)).holds is True


# ---- what may not be concluded --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "loop, why",
    [
        (ClosedLoop(REAL, noisy(VDC(model=REAL))), "no derivative"),
        (
            ClosedLoop(CRANE, Sampled(Quantised(VDC(model=CRANE), 1e-5, signals=("q",)), 1e-3)),
            "no derivative",
        ),
        (sampled(LEAKY), "no equilibrium"),  # pressures sink: there is nothing to linearise about
        (sampled(RUBBED), "neutral"),  # bristles at rest stay as they are
        (sampled(valves(CRANE, dead_band=0.4)), "no equilibrium"),
        (ClosedLoop(METERED, Sampled(VDC(METERED), 1e-3)), "no slope at rest"),
        (ClosedLoop(TWIN, Sampled(PID.design(TWIN), 1e-3)), "no slope at rest"),
        (ClosedLoop(TWIN, Sampled(OpenLoop(TWIN), 1e-3)), "no slope at rest: u_c_1 shuts"),
    ],
)
def test_what_cannot_be_linearised_is_undecided_not_unstable(loop, why):
    found = verdict(loop)
    assert found.holds is None and found.strength is None and why in found.worst


def test_where_the_run_goes_does_not_matter():
    """Offsets and disturbances of the run leave the equilibrium, and gravity with it."""
    plain = verdict(sampled(CRANE))
    moved = verdict(
        sampled(CRANE),
        offset={"q_1": 0.02, "dq_2": 0.1},
        disturbances={"g_x": 0.0, "g_y": 9.0, "f_Dy": 100.0},
    )
    assert moved.holds is True and moved.data["residual"] < 1e-2
    for a, b in zip(plain.data["margins"], moved.data["margins"]):
        assert a["gain_up"] == pytest.approx(b["gain_up"], rel=1e-4) and a[
            "phase"
        ] == pytest.approx(b["phase"], rel=1e-4)


def test_a_loop_that_needs_its_gain_has_a_margin_downwards(monkeypatch):
    right = local_claim.loop_margins

    def conditional(L):
        m = right(L)
        return Margins(m.stability, (*m.gain, (30.0, 0.8)), m.phase, m.delay)

    monkeypatch.setattr(local_claim, "loop_margins", conditional)
    found = verdict(sampled(CRANE))
    assert (
        found.holds is False
        and found.data["margins"][0]["gain_down"] == 0.8
        and "0.8 …" in found.worst
    )
    assert check_linear(C.Linear(gain=1.2), still(sampled(CRANE))).holds is True


@pytest.mark.parametrize(
    "gain, phase, holds",
    [(10.0, 0.5, True), (1.5, 1.4, True), (20.0, 0.5, False), (1.5, 1.5, False)],
)
def test_margins_asked_for_are_judged_on_both_sides(gain, phase, holds):
    """The ideal 1 kHz loop has a gain margin of 14.5 and a phase margin of 82.5°, 1.44 rad."""
    found = check_linear(C.Linear(gain=gain, phase=phase), still(sampled(CRANE)))
    assert found.holds is holds
    assert (found.margin >= 0) is holds, "the margin printed is the one that lacks"
