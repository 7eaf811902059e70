"""The list of planted faults: it is large enough, every fault is one, and sound loops are sound; what the verifier says of them."""

import random

import pytest

from tests.faults.entries import FAMILIES, entries, make
from tests.faults.evidence import evidence
from tests.faults.judging import HOLDS, REFUSED, UNDECIDED, VIOLATED, judged
from workbench.contract.errors import InputError

ALL = entries()
SEED = 20


def drawn(sound: bool, share: float) -> list:
    """Cheap entries of every family, that share of all its entries, drawn at random."""
    rng = random.Random(SEED)
    found = []
    for family in FAMILIES:
        own = [e for e in ALL if e.family == family and e.sound == sound]
        cheap = [e for e in own if e.quick]
        found += rng.sample(cheap, min(len(cheap), max(1, round(share * len(own)))))
    return found


def test_the_list_is_large_and_every_family_has_both_sides():
    faults, sound = [e for e in ALL if not e.sound], [e for e in ALL if e.sound]
    assert len(faults) >= 300 and len(sound) >= 150
    for family in FAMILIES:
        assert sum(e.family == family for e in faults) >= 10, family
        assert sum(e.family == family for e in sound) >= 4, family


def test_names_are_unique_and_every_entry_says_why():
    assert len({e.name for e in ALL}) == len(ALL)
    assert all(len(e.why) > 20 for e in ALL)
    assert all(e.shown and e.names for e in ALL if not e.sound)


@pytest.mark.parametrize("entry", drawn(sound=False, share=0.03), ids=lambda e: e.name)
def test_a_fault_is_one(entry):
    """A run that is longer, or starts elsewhere, shows it; no claim is asked. What is refused when it is read has no run."""
    try:
        made = make(entry)
    except InputError as refused:
        assert refused.mend
        return
    shown = evidence(entry, made)
    assert shown.holds, shown.text


@pytest.mark.parametrize("entry", drawn(sound=True, share=0.03), ids=lambda e: e.name)
def test_a_sound_loop_is_sound(entry):
    shown = evidence(entry, make(entry))
    assert shown.holds, shown.text


# ---- what the verifier says -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("entry", drawn(sound=False, share=0.1), ids=lambda e: e.name)
def test_no_fault_ends_in_holds(entry):
    outcome = judged(entry)
    assert outcome.exit in (VIOLATED, UNDECIDED, REFUSED), outcome.text or outcome.holding


def test_sound_loops_hold_and_causes_are_named():
    """At most one in twenty is violated, one in ten undecided, one of each in a sample as small as this."""
    outcomes = [judged(entry) for entry in drawn(sound=True, share=0.1)]
    said = "\n".join(f"{o.name}: {o.exit} {o.text}" for o in outcomes if o.exit != HOLDS)
    assert sum(o.exit not in (HOLDS, UNDECIDED) for o in outcomes) <= max(1, len(outcomes) // 20), (
        said
    )
    assert sum(o.exit == UNDECIDED for o in outcomes) <= max(1, len(outcomes) // 10), said
