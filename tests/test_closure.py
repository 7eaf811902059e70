"""Φ and Φ_z on numbers: one graph for machines of the same joints and loops, the numbers of the bodies' own sweep."""

from dataclasses import replace

import mechanisms as made
import numpy as np
import pytest

from plants import machine
from plants.multibody import closure, loops


@pytest.mark.parametrize("name", ["four-bar", "excavator", "patu-655"])
def test_they_are_those_of_the_sweep_over_the_bodies(name):
    own = made.four_bar() if name == "four-bar" else machine(name).plant
    rng = np.random.default_rng(2)
    for _ in range(3):
        by = list(0.1 * rng.normal(size=own.tree.n_v))
        z = own.moved(list(own.assembly.z), by)
        motion = own.moving(z, None)
        rows = own.rows(motion)
        Φ, G = own.constraints(z)
        assert pytest.approx([float(row.value) for row in rows], abs=1e-14) == Φ
        wanted = np.array(loops.jacobian(own.tree, rows, motion.b), float)
        assert pytest.approx(wanted, abs=1e-14) == G
        assert np.abs(Φ).max() > 1e-4


def test_machines_that_start_elsewhere_or_weigh_more_share_it_and_longer_links_do_not():
    own = made.four_bar()
    assert own.assembly.mobility == 1
    graphs = closure._graph.cache_info().misses
    heavier = replace(own, bodies=tuple(replace(b, mass=2 * b.mass + 1.0) for b in own.bodies))
    assert heavier.assembly.z == pytest.approx(own.assembly.z, abs=1e-9)
    assert closure._graph.cache_info().misses == graphs
    longer = tuple(replace(b, point=tuple(1.01 * p for p in b.point)) for b in own.bodies)
    assert replace(own, bodies=longer).assembly.mobility == 1
    assert closure._graph.cache_info().misses == graphs + 1


def test_a_tree_without_loops_has_none():
    open_tree = replace(made.four_bar(), loops=())
    Φ, G = open_tree.constraints([0.1] * open_tree.tree.n_z)
    assert Φ.shape == (0,) and G.shape == (0, open_tree.tree.n_v)
