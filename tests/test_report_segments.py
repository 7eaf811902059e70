"""The map Γ as it is drawn: its line, its sets, and segments named by the valves that are open, for any circuit."""

import metering_cases as cases
import numpy as np
import pytest

from plants.valve_circuits import TABLE_1, Γ, Circuit, Openings, operating
from reports import force_map, segments
from reports.figures import bands


@pytest.mark.parametrize("regeneration", [False, True])
def test_a_map_is_the_circuits(regeneration):
    rng = np.random.default_rng(11)
    for direction in (1, -1, 0):
        c, u_b = cases.circuit(rng), rng.uniform(0.1, 0.9)
        opened = cases.openings(rng, direction, regeneration)
        m = force_map.force_map(c, opened, u_b, -0.7, 0.9, 33)
        full = c.sections[0].A_h * c.sections[0].P_hM + c.sections[0].A_r * c.sections[0].P_rM
        assert np.all(np.diff(m.v) >= 0) and np.diff(m.f).max() < 1e-6 * full
        for v in rng.choice(m.v, 6):
            low, high = (end[0] for end in Γ(c, opened, u_b, v))
            assert m.f[m.v == v][[0, -1]] == pytest.approx([high, low], abs=1e-9 * full)
        at_0 = Γ(c, opened, u_b, 0.0)
        assert (0.0, *(pytest.approx(float(end[0]), abs=1e-9 * full) for end in at_0)) in m.sets
        assert (
            m.bands[0][0] == -0.7
            and m.bands[-1][1] == 0.9
            and all(a[1] == b[0] for a, b in zip(m.bands, m.bands[1:]))
        )


def test_bands_are_rows_of_the_table():
    m = force_map.force_map(Circuit(), Openings.command(0.5), 0.2, -1.0, 1.0)
    assert [name for _, _, name in m.bands] == ["F_hM", "+2a", "+1a", "+3", "-F_rM"]
    shut = force_map.force_map(Circuit(), Openings.command(0.5), 0.0, -1.0, 1.0)
    assert sorted(v for v, _, _ in shut.sets) == pytest.approx(
        [0.0, Circuit().pump.Q / 0.024]
    )  # a set at Q/A_h too


# ---- segments of any circuit ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("direction, regeneration", [(None, False), (1, True), (None, True)])
def test_what_no_row_describes_is_told_by_its_valves(direction, regeneration):
    rng, seen = np.random.default_rng(29), set()
    for _ in range(6):
        c, u_b, opened = (
            cases.circuit(rng),
            rng.uniform(0.1, 0.9),
            cases.openings(rng, direction, regeneration, edges=0.0),
        )
        for low, high, name in force_map.force_map(c, opened, u_b, -0.7, 0.9, 33).bands:
            at = operating(c, opened, u_b, [0.5 * (low + high)])
            s = at.sections[0]
            now = {key for key in ("hR", "hSC", "rR", "rSC") if getattr(s, key)}
            now |= ({"pR"} if at.pR else set()) | ({"a"} if s.Q_a > 1e-6 else set())
            if (
                name in TABLE_1
            ):  # only where oil is not regenerated, and the main valves are open one way
                assert (
                    "a" not in now and direction is not None and set(segments.opened(name)) <= now
                )
            else:
                assert set(segments.opened(name)) == now and (name == segments.UNNAMED) == (not now)
            seen.add(name)
    assert len(seen) > 4 and all(segments.colour(name).startswith("#") for name in seen)
    assert any("a" in name.split() and segments.hatch(name) for name in seen) == regeneration


def test_words_of_segments():
    assert (
        segments.words("+2b") == "rod relief, pump relief"
        and segments.words("hR a") == "head relief, regeneration"
    )
    assert (
        segments.words(segments.UNNAMED) == segments.words("+1a")
        and segments.label("hR pR") == "hR, pR"
    )
    shown = bands._entries(["+2a", "0", "-2a", "hR pR", "+2a", "-2b", "hR a"])
    assert list(shown.values()) == [
        "$Γ_{+2a}$, $Γ_{−2a}$: pump relief",
        "$Γ_{−2b}$: head relief, pump relief",
        "head relief, regeneration",
    ]
    for name, row in TABLE_1.items():
        assert {key for key in segments.opened(name)} == {
            key for key in ("hR", "hSC", "pR", "rSC", "rR") if getattr(row, key)
        }


def test_a_map_is_named_the_same_however_few_are_asked():
    for name in (lambda i: i // 7, lambda i: int(i > 5), lambda i: "one"):
        assert force_map._names(name, 42) == [name(i) for i in range(42)]
