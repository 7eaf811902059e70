"""Planted faults and sound loops as data: what `python benchmarks/faults.py` runs, and a tenth of it in the tests.

    bases.yaml      sound loops: a case file each (`case:`), or another base and what differs (`of:`, `edit:`)
    FAMILY.yaml     faults: and sound: — entries, each of them an edited base or a loop that `builders` makes
    entries.py      reads both, makes the loop of an entry
    builders.py     loops that no case file can say: users' laws, plants in state space, plants of other classes
    evidence.py     shows without any claim that a fault is one, and that a sound loop is sound

An entry has

    name      of its own in all families; `base` may be a list, then there is one entry for each, called NAME@BASE
    each      list of variants: keys that differ, and `as`, what the variant is called (its base by default)
    edit      path with slashes in the case file → new value, null takes the key out: {controller/K_p: 200 V/m}
    builder   instead of base and edit: a function of `builders`, called with `given`
    why       why it must not end in "holds" (faults), or why it is sound
    shown     what a run that is longer, or starts elsewhere, shows (`evidence.Shown`); not needed for sound loops
    names     words, one of which a counted verdict that does not hold should have: the cause
    quick     whether it is cheap enough for the tests; left out, small plants and bases that say so are
"""
