"""A search for a tube that was interrupted goes on where it was: the same tube, sooner; what is kept decides nothing."""

import os
from dataclasses import replace

import numpy as np
import pytest

from tests import test_tube_rounds as by_hand
from tests.test_tube import ASKED, SINE, Integral, Throttled
from workbench import ClosedLoop, Sampled
from workbench.numerics import code_cache
from workbench.verification.run import run
from workbench.verification.tube import resumed
from workbench.verification.tube.claim_settings import free, widths
from workbench.verification.tube.posed import posed
from workbench.verification.tube.progress import Share
from workbench.verification.tube.resumed import CHANGED, Kept
from workbench.verification.tube.rounds import ROUNDS, sized
from workbench.verification.tube.search import searched


class Counting(Share):
    """Counts the steps of a search, and interrupts it at one of them."""

    def __init__(self, interrupted_at: int = 0):
        super().__init__(None, 1)
        self.steps, self.interrupted_at = 0, interrupted_at

    def step(self) -> None:
        super().step()
        self.steps += 1
        if self.steps == self.interrupted_at:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def ready():
    """A search whose rounds are kept however short they are, and what it finds."""
    seen = run(ClosedLoop(Throttled(), Sampled(Integral(), 0.01)), SINE)
    half = widths(ASKED, seen.loop)
    found = searched(posed(seen, half, 1, free(ASKED, seen.loop)), Share(None, 1))
    assert found.failed is None
    return replace(found.ready, worth=0.0)


@pytest.fixture(scope="module")
def ended(ready, tmp_path_factory):
    """(the tube of a search that ran to its end, what it kept)."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("FLUIDPROOF_CACHE", str(tmp_path_factory.mktemp("ended")))
        patched.setattr(resumed, "text_digest", lambda: "as it is")
        found = sized(ready, 1.0, Share(None, 1)).tube
        return found, dict(np.load(Kept(ready.question.tube, 0.0).target))


def put(kept, arrays):
    """Keep these arrays as a search would have."""
    kept.target.parent.mkdir(parents=True, exist_ok=True)
    np.savez(kept.target, **arrays)
    code_cache.seal(kept.target).write_text(code_cache.stamp(kept.target.read_bytes()))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of this test's own; other tests may have changed what the library's text is in this process."""
    monkeypatch.setenv("FLUIDPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(resumed, "text_digest", lambda: "as it is")
    return tmp_path / "cache"


def same(one, other):
    return all(np.array_equal(getattr(one, n), getattr(other, n)) for n in CHANGED)


def test_an_interrupted_search_ends_as_if_it_had_not_been(ready):
    whole = Counting()
    expected = sized(replace(ready, worth=np.inf), 1.0, whole)
    with pytest.raises(KeyboardInterrupt):
        sized(ready, 1.0, Counting(whole.steps - 1))
    rest = Counting()
    found = sized(ready, 1.0, rest)
    assert same(found.tube, expected.tube) and found.failed is None
    assert rest.steps < whole.steps
    assert (
        int(np.load(Kept(ready.question.tube).target)["number"]) >= 1
    )  # rounds go on being counted
    again = Counting()
    assert same(sized(ready, 1.0, again).tube, expected.tube) and again.steps <= rest.steps


def test_other_starts_and_other_numbers_have_files_of_their_own(ready, folder):
    tube = ready.question.tube
    others = [
        tube,
        replace(tube, half=0.5 * tube.half),
        replace(tube, x0=tube.x0 + 1e-12),
        replace(tube, parameters=np.nextafter(tube.parameters, np.inf)),
        replace(tube, T=np.nextafter(tube.T, 1.0)),
    ]
    assert len({Kept(other).target for other in others}) == len(others)
    assert Kept(tube).target == Kept(replace(tube, σ=7.0)).target


def test_short_rounds_and_a_text_that_is_not_its_files_keep_nothing(ready, folder, monkeypatch):
    sized(replace(ready, worth=1e9), 1.0, Share(None, 1))
    assert not list(folder.glob("tube-*"))
    monkeypatch.setattr(resumed, "text_digest", lambda: None)
    kept = Kept(ready.question.tube, 0.0)
    kept.keep(1, ready.question.tube)
    assert kept.target is None and kept.taken_up(ready.question.tube, ROUNDS) is None


@pytest.mark.parametrize("damage", ["cut", "number", "shape", "nothing"])
def test_a_file_that_does_not_fit_is_left_aside(ready, ended, damage):
    found, arrays = ended
    kept = Kept(ready.question.tube, 0.0)
    changes = {"number": {"number": np.array(ROUNDS)}, "shape": {"reach": arrays["reach"][1:]}}
    put(kept, arrays | changes.get(damage, {}))
    if damage == "cut":
        kept.target.write_bytes(kept.target.read_bytes()[:-9])
    assert (kept.taken_up(found, ROUNDS) is not None) == (damage == "nothing")
    assert same(sized(ready, 1.0, Share(None, 1)).tube, found)


def test_a_file_changed_for_the_worse_gives_no_tube_that_the_checker_refuses(ready, ended):
    """Reaches that are far too small are enlarged again, as in any round: the inequalities decide."""
    _, arrays = ended
    worse = {"reach": 1e-3 * arrays["reach"], "number": np.array(0)}
    put(Kept(ready.question.tube, 0.0), arrays | worse)
    found = sized(ready, 1.0, Share(None, 1))
    assert found.failed is not None or ready.followed(found.tube).failed is None


@pytest.mark.quick
def test_only_the_latest_searches_are_kept(ready, folder, monkeypatch):
    tube = ready.question.tube
    one = Kept(tube, 0.0)
    one.keep(0, tube)
    monkeypatch.setattr(resumed, "MOST_BYTES", int(3.5 * one.target.stat().st_size))
    for part in np.linspace(0.5, 0.9, 5):
        Kept(replace(tube, half=part * tube.half), 0.0).keep(0, tube)
    assert len(list(folder.glob("tube-*.npz"))) == 3
    assert len(list(folder.glob("tube-*.sha256"))) == 3


# ---- what is kept, and when ---------------------------------------------------------------------------------------------------
@pytest.fixture
def kept(monkeypatch):
    """What a search for a tube of no programs keeps, whose rounds take as long as `clock` says."""
    monkeypatch.setattr(resumed, "_target", lambda asked: code_cache.folder() / "tube-own.npz")
    made = Kept(None, worth=2.0)
    made.c = by_hand.tube(reach=3.0, σ=7.0, R=np.diag([2.0, 5.0]))
    clock = iter([10.0, 11.9, 11.9, 14.0, 14.0, 99.0, 99.0])
    monkeypatch.setattr(resumed.time, "thread_time", lambda: next(clock))
    made.begun = next(clock)
    return made


def test_a_round_is_kept_where_the_one_before_took_long(kept):
    """1.9 s do not, the 2.1 s after it do; its number and what rounds change come back."""
    kept.keep(0, kept.c)
    assert not kept.target.exists()
    kept.keep(1, kept.c)
    number, found = kept.taken_up(replace(kept.c, σ=1.0, reach=0 * kept.c.reach), ROUNDS)
    assert number == 1 and same(found, kept.c)
    assert kept.taken_up(replace(kept.c, R=np.eye(3)), ROUNDS) is None


@pytest.mark.parametrize("number, found", [(-1, False), (0, True), (11, True), (12, False)])
def test_a_round_that_there_is_not_is_left_aside(kept, number, found):
    kept.worth = 0.0
    kept.keep(number, kept.c)
    assert (kept.taken_up(kept.c, 12) is not None) is found


def test_a_tube_too_large_for_the_folder_is_not_kept(kept, monkeypatch):
    kept.worth = 0.0
    size = sum(np.asarray(getattr(kept.c, name)).nbytes for name in CHANGED)
    monkeypatch.setattr(code_cache, "LONGEST", size - 1)
    kept.keep(0, kept.c)
    assert not kept.target.exists()
    monkeypatch.setattr(code_cache, "LONGEST", size)
    kept.keep(0, kept.c)
    assert kept.target.exists()


def test_the_oldest_files_are_removed_with_their_seals_or_without(kept, monkeypatch):
    """The new file of so many bytes, then others of 1,000: five fit to the byte."""
    kept.worth = 0.0
    kept.keep(0, kept.c)
    monkeypatch.setattr(resumed, "MOST_BYTES", 5000 + kept.target.stat().st_size)
    others = [kept.target.with_name(f"tube-{k}.npz") for k in range(7)]
    for age, file in enumerate(others):
        file.write_bytes(bytes(1000))
        os.utime(file, (1e9 - 100 * age,) * 2)
    kept.keep(0, kept.c)
    left = [file.exists() for file in (kept.target, *others)]
    assert left == [True] * 6 + [False, False]
    gone = kept.target.with_name("tube-gone.npz")
    assert resumed._size(gone) == 0 < resumed._size(others[0]) == 1000
    assert resumed._age(gone) == -np.inf < resumed._age(kept.target) < resumed._age(others[0])


class Pickled:
    """What is unpickled acts."""

    acted = False

    def __reduce__(self):
        return (setattr, (Pickled, "acted", True))


def test_nothing_in_a_file_is_unpickled(kept):
    kept.worth = 0.0
    kept.keep(0, kept.c)
    arrays = dict(np.load(kept.target)) | {"balls": np.array([Pickled()], object)}
    np.savez(kept.target, **arrays)
    code_cache.seal(kept.target).write_text(code_cache.stamp(kept.target.read_bytes()))
    assert kept.taken_up(kept.c, ROUNDS) is None and not Pickled.acted
